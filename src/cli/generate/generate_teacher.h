// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/env/env.h"
#include "cli/generate/generate_session.h"
#include "prompts/prompts.h"
#include "util/result.h"

namespace upskill {

// Without -m and a configured teacher: chooses the one of FindModelsByKey, if a limit of cost is given or nothing is to
// be sent, and adds a line that says so. Otherwise nothing changes.
void ChooseTeacher(GenerateSession& session, const Env& env);

// Without --eval-model and a configured one: the cheaper model of the teacher's provider (Provider::student), if both
// prices are known, else the teacher itself. The default model if the teacher is a command or a folder, which can't be
// asked hundreds of times. Adds a line that says so.
void ChooseStudents(GenerateSession& session, const Env& env);

// Notes which recorded files their tools reject (MarkRejectedFiles) and, without
// --skill-tokens, sets a longer target where the material shows small complete files, which a skill should have, or
// where the skill to improve is longer. Adds lines that say so.
void PrepareForTeacher(GenerateSession& session);

// Adds what there is to know of the teacher before it is asked: that it is small, or that a desk needs two chats.
void AdviseOnTeacher(GenerateSession& session);

// The end of an error: the commands that make a skill from the same sources with a teacher, each with what it needs.
std::string TeacherOffers(const GenerateCommandOptions& options, const Env& env);

// Before anything is read: an error (kInput) if there is nothing to make a skill from, or no teacher, with the commands
// that work.
Status CheckStart(const GenerateCommandOptions& options, const Env& env);

// A resumed generation keeps its prompts, because the teacher's stored answers belong to them; a line says so if they
// aren't the built-in ones. `stored` is empty for one of an earlier version. Error (kInput): --prompts gives others.
Status ResumePrompts(std::optional<Prompts> stored, GenerateSession& session);

}  // namespace upskill
