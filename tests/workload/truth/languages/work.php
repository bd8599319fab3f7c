<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// work.php WHAT DATA OUT: what PHP's own functions do to storage.
[, $what, $data, $out] = $argv;

function files($root)
{
    $found = [];
    foreach (scandir($root) as $name) {
        if ($name[0] == '.')
            continue;
        $path = "$root/$name";
        $found = is_dir($path) ? array_merge($found, files($path)) : [...$found, $path];
    }
    return $found;
}

$epochs = 20;
switch ($what) {
case 'read':
    for ($list = files($data); $epochs; $epochs--) {
        shuffle($list);
        foreach ($list as $path)
            strlen(file_get_contents($path));
    }
    break;
case 'records':
    $file = fopen("$data/long.wav", 'rb');
    for ($i = 0; $i < 4000; $i++) {
        fseek($file, 44 + 20000 * random_int(0, 6000));
        fread($file, 20000);
    }
    break;
case 'lines':
    foreach (glob("$data/*.jsonl") as $path)
        for ($file = fopen($path, 'r'); fgets($file) !== false;)
            ;
    break;
case 'scan':
    $sum = 0;
    $walk = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($data, FilesystemIterator::SKIP_DOTS));
    foreach ($walk as $file)
        $sum += $file->getSize();
    break;
case 'copy':
    foreach (glob("$data/*.tar") as $path)
        copy($path, "$out/" . basename($path));
    break;
case 'save':
    $layers = [];
    for ($i = 0; $i < 8; $i++)
        $layers["layer$i"] = str_repeat("\0", 3 << 20);
    for ($i = 0; $i < 5; $i++) {
        file_put_contents("$out/state.new", serialize($layers));
        rename("$out/state.new", "$out/state");
        usleep(200000);
    }
    break;
case 'load':
    strlen(file_get_contents("$data/weights.bin"));
    break;
}
