-- Stats are in joint, too.
comment on function unblend.joint_cells(bytea) is
    'Transfers by how large their file is (null: not known), whether they are those that jumped or all of that kind, and '
    'the bucket of their size. All of files whose size is not known are the rest of the column size. Stats that found a '
    'regular file by how large it is, those by name as jumped, in bucket 0.';

comment on column unblend.samples.joint is
    'Transfers by size, kind of file and whether they jump together, and stats by kind of file and whether they are by name, '
    'read by joint_cells(); null: not known.';
