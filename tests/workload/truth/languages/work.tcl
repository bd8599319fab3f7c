# SPDX-License-Identifier: GPL-2.0-or-later
# tclsh work.tcl WHAT DATA OUT: what Tcl's own commands do to storage.
lassign $argv what data out

proc files {root} {
    set found {}
    foreach path [lsort [glob -nocomplain -directory $root *]] {
        if {[file isdirectory $path]} {
            lappend found {*}[files $path]
        } else {
            lappend found $path
        }
    }
    return $found
}

switch $what {
    read {
        set list [files $data]
        for {set i 0} {$i < 20} {incr i} {
            foreach path $list {
                set file [open $path rb]
                read $file
                close $file
            }
        }
    }
    lines {
        foreach path [glob -directory $data *.jsonl] {
            set file [open $path r]
            while {[gets $file line] >= 0} {}
            close $file
        }
    }
    scan {
        set sum 0
        foreach path [files $data] {incr sum [file size $path]}
    }
    copy {
        foreach path [glob -directory $data *.tar] {file copy -force $path $out}
    }
    save {
        for {set i 0} {$i < 5} {incr i} {
            set file [open $out/state wb]
            for {set layer 0} {$layer < 8} {incr layer} {puts -nonewline $file [string repeat x [expr {3 << 20}]]}
            close $file
            after 200
        }
    }
}
