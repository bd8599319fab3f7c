/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds the empty pair of programs attached until standard input ends: hold OBJECT. Says "attached" first. */
#include <bpf/libbpf.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct bpf_object *object = argc == 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
    struct bpf_program *program;

    if (!object || bpf_object__load(object)) {
        perror("hold");
        return 1;
    }
    bpf_object__for_each_program(program, object)
        if (!bpf_program__attach(program)) {
            perror("hold: attach");
            return 1;
        }
    puts("attached");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
