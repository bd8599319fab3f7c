/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

int main(int argc, char **argv)
{
    return command_main(argc, argv);
}
