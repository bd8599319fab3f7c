/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/option.h"
#include "tests/unit/capture.h"

static bool all, pseudo;
static uint64_t interval, memory, count;
static const char *output, *url;

static const struct option_spec specs[] = {
    {"interval", 'i', OPTION_DURATION, "DURATION", &interval, "how long an interval lasts"},
    {"memory", 0, OPTION_SIZE, "SIZE", &memory, "kernel memory"},
    {"count", 'n', OPTION_COUNT, "N", &count, "how many"},
    {"output", 'o', OPTION_STRING, "FILE", &output, "where to"},
    {"url", 0, OPTION_STRING, "URL", &url, "whom to ask"},
    {"all", 'a', OPTION_FLAG, NULL, &all, "the whole node"},
    {"pseudo", 0, OPTION_FLAG, NULL, &pseudo, "pseudo file systems, too"},
};

static char config_path[] = "/tmp/unblend-option-XXXXXX";

static struct option_program program = {
    .name = "unblend test",
    .usage = "[OPTION]... FILE...",
    .summary = "Tests the options.",
    .options = specs,
    .count = sizeof(specs) / sizeof(specs[0]),
};

static int setup(void **state)
{
    all = pseudo = false;
    interval = 10000000000;
    memory = 64 << 20;
    count = 0;
    output = "unblend.rec";
    url = NULL;
    program.config = NULL;
    log_program("unblend");
    return 0;
}

#define ARGUMENTS_MAX 12

/* Parses a NULL-terminated list; *said is what was printed to stderr. */
static int parse(char **said, int *first, ...)
{
    char *argv[ARGUMENTS_MAX + 2] = {"test"};
    int argc = 1, result;
    va_list list;

    va_start(list, first);
    while (argc <= ARGUMENTS_MAX && (argv[argc] = va_arg(list, char *)))
        argc++;
    va_end(list);
    capture_begin(STDERR_FILENO);
    result = option_parse(&program, argc, argv, first);
    *said = capture_end(STDERR_FILENO);
    return result;
}

#define GOOD(first_operand, ...)                                                                   \
    do {                                                                                           \
        _cleanup_free_ char *said = NULL;                                                          \
        int first = -1;                                                                            \
        assert_int_equal(parse(&said, &first, __VA_ARGS__, NULL), 0);                              \
        assert_string_equal(said, "");                                                             \
        assert_int_equal(first, first_operand);                                                    \
    } while (0)

#define BAD(message, ...)                                                                          \
    do {                                                                                           \
        _cleanup_free_ char *said = NULL;                                                          \
        int first = -1;                                                                            \
        assert_int_equal(parse(&said, &first, __VA_ARGS__, NULL), -EINVAL);                        \
        assert_string_equal(said, message);                                                        \
        assert_int_equal(first, -1);                                                               \
    } while (0)

static void values_go_into_variables(void **state)
{
    GOOD(8, "-i", "250ms", "--memory=16M", "-n7", "--output", "x y", "--all", "operand");
    assert_int_equal(interval, 250000000);
    assert_int_equal(memory, 16 << 20);
    assert_int_equal(count, 7);
    assert_string_equal(output, "x y");
    assert_true(all);
    assert_false(pseudo);
}

static void operands_end_the_options(void **state)
{
    GOOD(1, "cmd", "-i", "5s", "--all");
    assert_int_equal(interval, 10000000000);
    assert_false(all);
    GOOD(3, "-a", "--", "--count", "x");
    assert_true(all);
    GOOD(2, "-ai5s");
    assert_int_equal(interval, 5000000000);
    GOOD(3, "-n1", "-n2");
    assert_int_equal(count, 2);
    GOOD(2, "--all=no");
    assert_false(all);
    GOOD(2, "--output=");
    assert_string_equal(output, "");
}

static void mistakes_are_one_line(void **state)
{
    BAD("unblend: unknown option '--foo': try 'unblend test --help'\n", "--foo=1", "-n", "x");
    BAD("unblend: unknown option '-x': try 'unblend test --help'\n", "-ax");
    BAD("unblend: unknown option '--config': try 'unblend test --help'\n", "--config", "f");
    BAD("unblend: option '-i' needs a value: try 'unblend test --help'\n", "-i");
    BAD("unblend: option '--output' needs a value: try 'unblend test --help'\n", "--output");
    BAD("unblend: option '--help' takes no value: try 'unblend test --help'\n", "--help=x");
    BAD("unblend: option '--interval': 'soon' is not a duration, like 250ms, 10s, 1.5h or 7d\n",
        "-i", "soon");
    BAD("unblend: option '--memory': '1X' is not a size, like 65536, 64K, 16M or 2G\n",
        "--memory=1X");
    BAD("unblend: option '--count': '-1' is not a whole number, like 10\n", "-n", "-1");
    BAD("unblend: option '--all': 'maybe' is neither yes nor no\n", "--all=maybe");
}

static void help_shows_the_table(void **state)
{
    _cleanup_free_ char *text = NULL, *plain = NULL;
    char *argv[] = {"test", "-n", "5", "--help", NULL};
    int first;

    program.config = "/etc/unblend/test.conf";
    capture_begin(STDOUT_FILENO);
    assert_int_equal(option_parse(&program, 4, argv, &first), 1);
    text = capture_end(STDOUT_FILENO);
    assert_string_equal(
        text,
        "Usage: unblend test [OPTION]... FILE...\n"
        "Tests the options.\n"
        "\n"
        "  -i, --interval DURATION  how long an interval lasts (default 10s)\n"
        "      --memory SIZE        kernel memory (default 64M)\n"
        "  -n, --count N            how many\n"
        "  -o, --output FILE        where to (default unblend.rec)\n"
        "      --url URL            whom to ask\n"
        "  -a, --all                the whole node\n"
        "      --pseudo             pseudo file systems, too\n"
        "      --config FILE        read options from this file; the command line wins (default\n"
        "                           /etc/unblend/test.conf)\n"
        "      --help               print this and exit\n"
        "      --version            print the version and exit\n");
    assert_int_equal(count, 0);
    program.config = NULL;
    capture_begin(STDOUT_FILENO);
    assert_int_equal(option_parse(&program, 4, argv, &first), 1);
    plain = capture_end(STDOUT_FILENO);
    assert_null(strstr(plain, "--config"));
}

static void defaults_are_written_as_people_would(void **state)
{
    static const struct {
        uint64_t ns, bytes;
        const char *duration, *size;
    } cases[] = {
        {250000000, 65536, "(default 250ms)", "(default 64K)"},
        {90000000000, 100, "(default 90s)", "(default 100)"},
        {7200000000000, 3ull << 40, "(default 2h)", "(default 3T)"},
        {172800000000000, 1ull << 52, "(default 2d)", "(default 4096T)"},
        {1500, 1 << 30, "(default 1.5e-06s)", "(default 1G)"},
    };
    char *argv[] = {"test", "--help", NULL};
    int first;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_free_ char *text = NULL;

        interval = cases[i].ns;
        memory = cases[i].bytes;
        capture_begin(STDOUT_FILENO);
        assert_int_equal(option_parse(&program, 2, argv, &first), 1);
        text = capture_end(STDOUT_FILENO);
        assert_non_null(strstr(text, cases[i].duration));
        assert_non_null(strstr(text, cases[i].size));
    }
}

static void version_is_one_line(void **state)
{
    _cleanup_free_ char *text = NULL;
    char *argv[] = {"test", "--version", NULL};
    int first;

    capture_begin(STDOUT_FILENO);
    assert_int_equal(option_parse(&program, 2, argv, &first), 1);
    text = capture_end(STDOUT_FILENO);
    assert_string_equal(text, "unblend test " PACKAGE_VERSION "\n");
}

static void write_config(const void *text, size_t size)
{
    _cleanup_close_ int fd = open(config_path, O_WRONLY | O_TRUNC);

    assert_int_equal(write(fd, text, size), size);
    program.config = config_path;
}

#define CONFIG(text) write_config(text, sizeof(text) - 1)

/* What stands between operands is the command line's, too, and wins over the file's. */
static void operands_stand_between_options(void **state)
{
    char *argv[] = {"test", "one", "-n", "9", "two", "--output", "x", "--", "--all", "-n"}, **operands = NULL;
    unsigned operand_count = 0;

    CONFIG("count = 5\noutput = y\ninterval = 2s\n");
    assert_int_equal(option_parse_mixed(&program, 10, argv, &operands, &operand_count), 0);
    assert_int_equal(count, 9);
    assert_string_equal(output, "x");
    assert_int_equal(interval, 2000000000);
    assert_false(all);
    assert_int_equal(operand_count, 4);
    assert_string_equal(operands[0], "one");
    assert_string_equal(operands[1], "two");
    assert_string_equal(operands[2], "--all");
    assert_string_equal(operands[3], "-n");
    free(operands);
    assert_int_equal(option_parse_mixed(&program, 1, argv, &operands, &operand_count), 0);
    assert_int_equal(operand_count, 0);
    free(operands);
}

static void files_set_what_the_command_line_does_not(void **state)
{
    CONFIG("# a comment\n"
           "\n"
           "  interval=2s\r\n"
           "count = 5   # five\n"
           "url = https://host/#part\n"
           "\tall\n"
           "pseudo = no\n"
           "output = a b = c");
    GOOD(3, "-n", "9");
    assert_int_equal(interval, 2000000000);
    assert_int_equal(count, 9);
    assert_string_equal(url, "https://host/#part");
    assert_true(all);
    assert_false(pseudo);
    assert_string_equal(output, "a b = c");
    GOOD(2, "--all=no");
    assert_false(all);
    GOOD(4, "--output", "-", "--all");
    assert_string_equal(output, "-");
}

static void bad_lines_are_all_shown(void **state)
{
    _cleanup_free_ char *said = NULL;
    char expected[2048], *to = expected;
    static const char *const lines[] = {
        "1: 'nonsense' is no option: see --help for the names",
        "2: interval: 'x' is not a duration, like 250ms, 10s, 1.5h or 7d",
        "3: 'count' needs a value: write 'name = value'",
        "4: all: 'perhaps' is neither yes nor no",
        "5: 'interval' was set on line 2 already: remove one of them",
        "6: '' is no option: see --help for the names",
        "7: the line holds a NUL byte: this is no text file",
        "8: 'config' is no option: see --help for the names",
        "10: 'count' was set on line 3 already: remove one of them",
    };
    int first;

    CONFIG("nonsense = 1\ninterval = x\ncount\nall = perhaps\ninterval = 1s\n= 5\nmem\0ory = 1\n"
           "config = /x\nmemory = 1K\ncount\t=\t1 2\n");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        to += sprintf(to, "unblend: %s:%s\n", config_path, lines[i]);
    assert_int_equal(parse(&said, &first, NULL), -EINVAL);
    assert_string_equal(said, expected);
}

/* A device has no end, and what is no configuration file has no right lines. */
static void what_is_no_configuration_file_is_not_read_on(void **state)
{
    _cleanup_free_ char *text = malloc(3 << 20), *said = NULL, *many = NULL;
    int first;

    memset(text, '#', 3 << 20);
    write_config(text, 3 << 20);
    assert_int_equal(parse(&said, &first, NULL), -EINVAL);
    assert_non_null(strstr(said, "larger than 1 MiB"));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    for (unsigned i = 0; i < 1000; i++)
        strcpy(text + 2 * i, "x\n");
    write_config(text, 2000);
    assert_int_equal(parse(&many, &first, NULL), -EINVAL);
    assert_non_null(strstr(many, ":20: 'x' is no option"));
    assert_null(strstr(many, ":21: "));
    assert_non_null(strstr(many, ": the rest is not read: "));
}

/* A value may have its type, and be wrong all the same: whoever finds that out can say where it stands. */
static void values_know_their_line(void **state)
{
    char expected[64];

    CONFIG("# first\ncount = 5\noutput = x\n");
    GOOD(3, "--output", "y");
    snprintf(expected, sizeof(expected), "%s:2: ", config_path);
    assert_string_equal(option_from(&count), expected);
    assert_string_equal(option_from(&output), "");
    assert_string_equal(option_from(&interval), "");
    GOOD(3, "-n", "9");
    assert_string_equal(option_from(&count), "");
    snprintf(expected, sizeof(expected), "%s:3: ", config_path);
    assert_string_equal(option_from(&output), expected);
}

/* The file is checked where the command line has another value, too. */
static void overridden_values_are_checked(void **state)
{
    char expected[256];

    CONFIG("interval = never\n");
    snprintf(expected, sizeof(expected),
             "unblend: %s:1: interval: 'never' is not a duration, like 250ms, 10s, 1.5h or 7d\n",
             config_path);
    BAD(expected, "-i", "1s");
    assert_int_equal(interval, 1000000000);
}

static void overlong_lines_are_refused(void **state)
{
    char text[20000], expected[256];
    _cleanup_free_ char *said = NULL;
    int first;

    memset(text, 'x', sizeof(text));
    memcpy(text + sizeof(text) - 11, "\ncount = 3\n", 11);
    write_config(text, sizeof(text));
    snprintf(expected, sizeof(expected), "unblend: %s:1: the line is too long\n", config_path);
    assert_int_equal(parse(&said, &first, NULL), -EINVAL);
    assert_string_equal(said, expected);
    assert_int_equal(count, 3);
}

static void files_that_are_missing(void **state)
{
    program.config = "/nonexistent/unblend.conf";
    GOOD(1, "x");
    BAD("unblend: cannot read the configuration file /nonexistent/x: No such file or directory: "
        "name another with --config\n",
        "--config", "/nonexistent/x");
    program.config = "/nonexistent/unblend.conf";
    BAD("unblend: cannot read /: Is a directory: name a file in it\n", "--config=/");
    CONFIG("count = 4\n");
    program.config = "/nonexistent/unblend.conf";
    GOOD(4, "--config", config_path, "--all");
    assert_int_equal(count, 4);
}

static void durations(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {
        {"0", 0},
        {"10", 10000000000},
        {"250ms", 250000000},
        {"10s", 10000000000},
        {"1.5m", 90000000000},
        {"2h", 7200000000000},
        {"1d", 86400000000000},
        {"0.1", 100000000},
        {"0.000000001s", 1},
        {"0.0000000019s", 1},
        {"0.999999999999d", 86399999999913},
        {"007s", 7000000000},
        {"9223372036s", 9223372036000000000},
        {"9223372036.854775807", INT64_MAX},
        {"106751d", 9223286400000000000},
    };
    static const char *const bad[] = {"",
                                      "s",
                                      "-1s",
                                      "+1s",
                                      "1 s",
                                      " 1s",
                                      "1s ",
                                      "1.s",
                                      ".5s",
                                      "1e3s",
                                      "0x1s",
                                      "1S",
                                      "1sec",
                                      "1us",
                                      "1.5.5s",
                                      "1,5s",
                                      "inf",
                                      "nan",
                                      "1ss",
                                      "1m30s",
                                      "9223372036.854775808",
                                      "9223372037s",
                                      "106752d",
                                      "99999999999999999999s",
                                      "1.0000000000000s",
                                      "1s\n"};
    uint64_t ns;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        if (option_duration(good[i].text, &ns) || ns != good[i].ns)
            fail_msg("%s: %ju", good[i].text, (uintmax_t)ns);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ns = 77;
        if (option_duration(bad[i], &ns) != -EINVAL || ns != 77)
            fail_msg("'%s'", bad[i]);
    }
}

static void sizes_and_counts(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"1", 1},
        {"64K", 65536},
        {"1M", 1 << 20},
        {"2G", 2ull << 30},
        {"3T", 3ull << 40},
        {"9223372036854775807", INT64_MAX},
        {"8388607T", 8388607ull << 40},
    };
    static const char *const bad[] = {"",
                                      "K",
                                      "-1",
                                      "+1",
                                      "1k",
                                      "1KB",
                                      "1KiB",
                                      "1.5G",
                                      "1 K",
                                      " 1",
                                      "1 ",
                                      "1P",
                                      "8388608T",
                                      "9223372036854775808",
                                      "18446744073709551617",
                                      "1K\n"};
    uint64_t value;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (option_size(good[i].text, &value) || value != good[i].bytes)
            fail_msg("%s", good[i].text);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        value = 77;
        if (option_size(bad[i], &value) != -EINVAL || value != 77)
            fail_msg("'%s'", bad[i]);
        if (option_count(bad[i], &value) != -EINVAL || value != 77)
            fail_msg("'%s'", bad[i]);
    }
    assert_int_equal(option_count("64K", &value), -EINVAL);
    assert_int_equal(option_count("9223372036854775807", &value), 0);
    assert_int_equal(value, INT64_MAX);
}

static void percentages_are_millionths(void **state)
{
    static const struct {
        const char *text;
        uint64_t millionths;
    } good[] = {{"0", 0},           {"1", 10000},  {"0.5", 5000},  {"100", 1000000},
                {"2.5%", 25000}, {"0.0001", 1}, {"0.00001", 0}};
    static const char *const bad[] = {"", "-1", "101", "100.1", "1.", ".5", "1e2", "5%%", "x", " 1"};
    uint64_t value;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (option_percent(good[i].text, &value) || value != good[i].millionths)
            fail_msg("%s", good[i].text);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        value = 77;
        if (option_percent(bad[i], &value) != -EINVAL || value != 77)
            fail_msg("'%s'", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values_go_into_variables, setup),
        cmocka_unit_test_setup(operands_end_the_options, setup),
        cmocka_unit_test_setup(mistakes_are_one_line, setup),
        cmocka_unit_test_setup(help_shows_the_table, setup),
        cmocka_unit_test_setup(defaults_are_written_as_people_would, setup),
        cmocka_unit_test_setup(version_is_one_line, setup),
        cmocka_unit_test_setup(operands_stand_between_options, setup),
        cmocka_unit_test_setup(files_set_what_the_command_line_does_not, setup),
        cmocka_unit_test_setup(bad_lines_are_all_shown, setup),
        cmocka_unit_test_setup(what_is_no_configuration_file_is_not_read_on, setup),
        cmocka_unit_test_setup(values_know_their_line, setup),
        cmocka_unit_test_setup(overridden_values_are_checked, setup),
        cmocka_unit_test_setup(overlong_lines_are_refused, setup),
        cmocka_unit_test_setup(files_that_are_missing, setup),
        cmocka_unit_test_setup(durations, setup),
        cmocka_unit_test_setup(sizes_and_counts, setup),
        cmocka_unit_test_setup(percentages_are_millionths, setup),
    };
    int fd = mkstemp(config_path), failed;

    close(fd);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(config_path);
    return failed;
}
