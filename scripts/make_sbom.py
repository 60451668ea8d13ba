#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the SBOM (SPDX 2.3, JSON) of a package: what is linked into it, with versions and licences.

usage: make_sbom.py VERSION STAGE --llama COMMIT --llama-source FOLDER --licenses FOLDER

The licences' texts are copied to the --licenses folder. Equal files and versions give equal bytes.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

# Name, the installed Debian package with its version and copyright, licence.
LINKED = [
    ("boost-math", "libboost1.74-dev", "BSL-1.0"),
    ("CLI11", "libcli11-dev", "BSD-3-Clause"),
    ("curl", "libcurl4-openssl-dev", "curl"),
    ("fmt", "libfmt-dev", "MIT"),
    ("libarchive", "libarchive-dev", "BSD-2-Clause"),
    ("libstdc++", "libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("nghttp2", "libnghttp2-dev", "MIT"),
    ("nlohmann-json", "nlohmann-json3-dev", "MIT"),
    ("openssl", "libssl-dev", "Apache-2.0"),
    ("re2", "libre2-dev", "BSD-3-Clause"),
    ("tomlplusplus", "libtomlplusplus-dev", "MIT"),
    ("utf8proc", "libutf8proc-dev", "MIT"),
    ("yaml-cpp", "libyaml-cpp-dev", "MIT"),
    ("zlib", "zlib1g-dev", "Zlib"),
    ("zstd", "libzstd-dev", "BSD-3-Clause"),
]
COMPILER = ("gcc", "g++-12", "GPL-3.0-or-later")


def debian(package):
    """Source package and version of an installed Debian package."""
    fields = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package], capture_output=True, text=True, check=True)
    return fields.stdout.split()


def spdx_package(name, version, licence, purl=None):
    package = {"SPDXID": f"SPDXRef-Package-{name.replace('+', 'p')}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
               "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION"}
    if purl:
        package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return package


def debian_package(name, package, licence):
    source, version = debian(package)
    purl = f"pkg:deb/debian/{source}@{version.replace('+', '%2B').replace(':', '%3A')}?arch=source&distro=debian-12"
    return spdx_package(name, version, licence, purl)


def copy_license(name, package, licence, folder):
    text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text()
    if len(text) > 200_000:  # boost's covers all of boost; the licence's text is the last paragraph with its name
        text = [stanza for stanza in text.split("\n\n") if stanza.lstrip().startswith(f"License: {licence}\n")][-1].strip() + "\n"
    (folder / name).write_text(text)


def copy_llama_licenses(source, folder):
    """llama.cpp's licence, that of the JSON library it contains, and those of files that came from other projects."""
    shutil.copyfile(source / "LICENSE", folder / "llama.cpp")
    shutil.copyfile(source / "licenses/LICENSE-jsonhpp", folder / "nlohmann-json-in-llama.cpp")
    sgemm = (source / "ggml/src/ggml-cpu/llamafile/sgemm.cpp").read_text()
    notices = [re.sub("^// ?", "", line, flags=re.M) for line in [re.match(r"(?://[^\n]*\n)+", sgemm)[0]]]
    notices += [line.strip("/ ") + "\n" for line in (source / "ggml/src/ggml-cpu/ops.cpp").read_text().splitlines() if "Copyright" in line]
    (folder / "ggml-parts").write_text("\n".join(notices))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("version")
    parser.add_argument("stage", type=pathlib.Path)
    parser.add_argument("--llama", required=True)
    parser.add_argument("--llama-source", type=pathlib.Path, required=True)
    parser.add_argument("--licenses", type=pathlib.Path, required=True)
    options = parser.parse_args()

    options.licenses.mkdir(parents=True, exist_ok=True)
    for name, package, licence in LINKED:
        copy_license(name, package, licence, options.licenses)
    copy_llama_licenses(options.llama_source, options.licenses)

    program = spdx_package("upskill", options.version, "Apache-2.0")
    llama = spdx_package("llama.cpp", options.llama, "MIT", f"pkg:generic/llama.cpp@{options.llama}")
    header = (options.llama_source / "vendor/nlohmann/json.hpp").read_text()
    json_version = ".".join(re.search(f"NLOHMANN_JSON_VERSION_{part} (\\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    json_inside = spdx_package("nlohmann-json-in-llama.cpp", json_version, "MIT", f"pkg:generic/nlohmann-json@{json_version}")
    linked = sorted([debian_package(*entry) for entry in LINKED] + [llama, json_inside], key=lambda package: package["name"].lower())
    compiler = debian_package(*COMPILER)
    digest = hashlib.sha256()
    for path in sorted(path for path in options.stage.rglob("*") if path.is_file()):
        digest.update(path.relative_to(options.stage).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    described = {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": program["SPDXID"]}
    links = [{"spdxElementId": program["SPDXID"], "relationshipType": "STATIC_LINK", "relatedSpdxElement": package["SPDXID"]} for package in linked]
    built = {"spdxElementId": compiler["SPDXID"], "relationshipType": "BUILD_TOOL_OF", "relatedSpdxElement": program["SPDXID"]}
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"upskill-{options.version}",
        "documentNamespace": f"urn:upskill:sbom:{options.version}:{digest.hexdigest()}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: upskill scripts/make_sbom.py"]},
        "packages": [program, *linked, compiler],
        "relationships": [described, *links, built],
    }
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
