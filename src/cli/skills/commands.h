// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options/command.h"

namespace upskill {

Command InitCommand();
Command ValidateCommand();
Command ReadPropertiesCommand();
Command ToPromptCommand();
Command ListCommand();
Command AuditCommand();
Command InstallCommand();
Command UninstallCommand();
Command UpdateCommand();
Command OutdatedCommand();
Command VerifyCommand();
Command PackCommand();

}  // namespace upskill
