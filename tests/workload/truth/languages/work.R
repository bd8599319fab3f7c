# SPDX-License-Identifier: GPL-2.0-or-later
# Rscript work.R WHAT DATA OUT: what R's own functions do to storage.
given <- commandArgs(TRUE)
what <- given[1]
data <- given[2]
out <- given[3]

if (what == "read") {
    for (path in sample(list.files(data, full.names = TRUE, recursive = TRUE)))
        readBin(path, "raw", file.size(path))
} else if (what == "tables") {
    for (path in sample(list.files(data, full.names = TRUE, recursive = TRUE)))
        read.csv(path, header = FALSE)
} else if (what == "records") {
    file <- file(file.path(data, "long.wav"), "rb")
    for (i in 1:2000) {
        seek(file, 44 + 24000 * sample(0:5000, 1))
        readBin(file, "raw", 24000)
    }
} else if (what == "lines") {
    for (path in list.files(data, "jsonl$", full.names = TRUE)) {
        file <- file(path, "r")
        while (length(readLines(file, 1000)) > 0) {}
        close(file)
    }
} else if (what == "scan") {
    sum(file.info(list.files(data, full.names = TRUE, recursive = TRUE))$size)
} else if (what == "copy") {
    file.copy(list.files(data, "tar$", full.names = TRUE), out, overwrite = TRUE)
} else if (what == "save") {
    layers <- lapply(1:4, function(i) numeric(1e6))
    for (i in 1:5) {
        saveRDS(layers, file.path(out, "state.rds"), compress = FALSE)
        Sys.sleep(0.2)
    }
} else if (what == "load") {
    path <- file.path(data, "weights.bin")
    length(readBin(path, "raw", file.size(path)))
}
