/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UNBLEND_COLLECTOR_COMMAND_H
#define UNBLEND_COLLECTOR_COMMAND_H

/* The program; returns its exit status. */
int collector_main(int argc, char **argv);

#endif
