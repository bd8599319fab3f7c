/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/command.h"

int main(int argc, char **argv)
{
    return collector_main(argc, argv);
}
