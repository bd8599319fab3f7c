/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of `unblend`. Each returns the program's exit status: 0, 1 for failure, 2 for wrong
 * usage. */
#ifndef UNBLEND_ANALYZER_COMMAND_H
#define UNBLEND_ANALYZER_COMMAND_H

#include "lib/option.h"

int command_doctor(int argc, char **argv);
int command_export(int argc, char **argv);
int command_payload(int argc, char **argv);
int command_learn(int argc, char **argv);
int command_record(int argc, char **argv);
int command_report(int argc, char **argv);
int command_top(int argc, char **argv);

/* What is read, for a message: "a.rec", "a.rec and 2 more", "the database". */
#define COMMAND_INPUTS_SIZE 320
char *command_inputs(char buffer[COMMAND_INPUTS_SIZE], char *const *files, unsigned count);

/* Runs the command that argv names. */
int command_main(int argc, char **argv);

#endif
