# SPDX-License-Identifier: Apache-2.0
"""A real Slurm on the loopback address, without systemd: a controller, and nodes that can lose their power."""
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "unshare")


def missing():
    """Why there can be no cluster here; empty if there can."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if absent:
        return f"{absent[0]} is missing (Debian packages munge, slurmctld, slurmd, slurm-client)"
    if os.geteuid() != 0:
        return "only root can give each node a name space of its own"
    probe = subprocess.run(["unshare", "--pid", "--uts", "--mount", "--fork", "true"], capture_output=True)
    return "" if probe.returncode == 0 else "no name spaces for the nodes: " + probe.stderr.decode().strip()


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)


class Cluster:
    """Partitions: `low` (default), whose tasks are requeued when `high` needs their nodes."""

    def __init__(self, folder, nodes=2, cpus=2):
        self.folder = Path(folder)
        self.nodes = nodes
        self.daemons = {}
        for name in ("run", "state", "spool", "log"):
            (self.folder / name).mkdir()
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self._write_configuration(cpus)
        socket_path = self.folder / "run/munge"
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        self._daemon("munged", ["munged", "--foreground", "--force", f"--socket={socket_path}", f"--key-file={key}",
                                f"--seed-file={self.folder}/run/seed", f"--pid-file={self.folder}/run/munged.pid",
                                "--origin=127.0.0.1", f"--log-file={self.folder}/log/munged.log"])
        wait_for(socket_path.exists, 20, "munged")
        self._daemon("slurmctld", ["slurmctld", "-D"])
        for number in range(1, nodes + 1):
            self.switch_on(number)
        wait_for(lambda: self.idle() == nodes, 60, "idle nodes")

    def _write_configuration(self, cpus):
        host = socket.gethostname().split(".")[0]
        ports = self._free_ports(self.nodes + 1)
        names = "".join(f"127.0.0.1 n{number}\n" for number in range(1, self.nodes + 1))
        (self.folder / "hosts").write_text(Path("/etc/hosts").read_text() + "\n" + names)
        f = self.folder
        f.joinpath("slurm.conf").write_text(
            f"ClusterName=one\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={ports}\n"
            f"CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\nSlurmUser=root\nAuthType=auth/munge\n"
            f"AuthInfo=socket={f}/run/munge,cred_expire=5\nStateSaveLocation={f}/state\n"
            f"SlurmctldPidFile={f}/run/slurmctld.pid\nSlurmctldLogFile={f}/log/slurmctld.log\n"
            f"SlurmdSpoolDir={f}/spool/%n\nSlurmdPidFile={f}/run/%n.pid\nSlurmdLogFile={f}/log/%n.log\n"
            f"SlurmdParameters=config_overrides\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
            f"SwitchType=switch/none\nMpiDefault=none\nMailProg=/bin/true\nSelectType=select/cons_tres\n"
            f"SelectTypeParameters=CR_CPU\nReturnToService=2\nSlurmdTimeout=8\nMessageTimeout=3\nKillWait=2\n"
            f"SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2\nPriorityType=priority/basic\n"
            f"PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
            f"NodeName=n[1-{self.nodes}] NodeAddr=127.0.0.1 Port=[{ports + 1}-{ports + self.nodes}] CPUs={cpus}\n"
            f"PartitionName=low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE\n"
            f"PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF\n")

    @staticmethod
    def _free_ports(count):
        while True:
            first = random.randrange(20000, 30000)
            try:
                for port in range(first, first + count):
                    with socket.socket() as probe:
                        probe.bind(("127.0.0.1", port))
                return first
            except OSError:
                continue

    def _daemon(self, name, command):
        with open(self.folder / "log" / (name + ".out"), "wb") as log:
            self.daemons[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                  start_new_session=True)

    def switch_on(self, number):
        """A node is a pid name space: its end is the end of every process in it."""
        (self.folder / f"spool/n{number}").mkdir(exist_ok=True)
        script = (f"mount --make-rprivate / && mount -t proc proc /proc && mount --bind {self.folder}/hosts /etc/hosts"
                  f" && hostname n{number} && slurmd -D -N n{number}; exit")
        self._daemon(f"n{number}", ["unshare", "--pid", "--uts", "--mount", "--fork", "--kill-child", "sh", "-c", script])

    def cut_power(self, number):
        node = self.daemons.pop(f"n{number}")
        node.kill()
        node.wait()

    def idle(self):
        found = subprocess.run(["sinfo", "-h", "-N", "-p", "low", "-t", "idle", "-o", "%N"], capture_output=True)
        return len(found.stdout.split())

    def tasks(self, state):
        found = subprocess.run(["squeue", "-h", "-r", "-t", state, "-p", "low", "-o", "%N|"], capture_output=True)
        return found.stdout.decode().split()

    def state(self):
        """Everything that helps to understand a test that failed: tasks, nodes and the ends of the logs."""
        shown = [subprocess.run(command, capture_output=True, text=True).stdout
                 for command in (["squeue", "-r", "-t", "all"], ["sinfo", "-N", "-l"])]
        for log in sorted((self.folder / "log").glob("*.log")):
            shown += [log.name, *log.read_text(errors="replace").splitlines()[-100:]]
        return "\n".join(shown)

    def stop(self):
        for name in sorted(self.daemons, key=lambda name: name == "munged"):
            daemon = self.daemons[name]
            daemon.send_signal(signal.SIGKILL if name.startswith("n") else signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = {}
