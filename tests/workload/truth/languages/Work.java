// SPDX-License-Identifier: GPL-2.0-or-later
// java Work WHAT DATA OUT: what Java's own classes do to storage. The machine takes long to start, so that most of these
// go on until they are ended.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

class Work {
    static long sum;

    static class Walk extends SimpleFileVisitor<Path> {
        List<Path> found = new ArrayList<>();

        public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
            found.add(path);
            sum += attributes.size();
            return FileVisitResult.CONTINUE;
        }
    }

    static List<Path> files(Path root) throws IOException {
        Walk walk = new Walk();
        Files.walkFileTree(root, walk);
        Collections.sort(walk.found);
        return walk.found;
    }

    static void save(Path path) throws IOException {
        ByteBuffer layer = ByteBuffer.allocateDirect(6 << 20);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (int i = 0; i < 5; i++) {
                layer.clear();
                while (layer.hasRemaining())
                    file.write(layer);
            }
            file.force(true);
        }
    }

    static void load(Path path) throws IOException {
        ByteBuffer piece = ByteBuffer.allocateDirect(8 << 20);
        try (FileChannel file = FileChannel.open(path)) {
            while (file.read(piece) >= 0)
                piece.clear();
        }
    }

    static void records(Path path, Random random) throws IOException {
        byte[] record = new byte[24 << 10];
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
            for (;;) {
                file.seek(44 + (long)random.nextInt(5000) * record.length);
                file.readFully(record);
            }
        }
    }

    static void mapped(Path path, Random random) throws IOException {
        byte[] record = new byte[24 << 10];
        try (FileChannel file = FileChannel.open(path)) {
            for (;;) {
                ByteBuffer map = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
                for (int i = 0; i < 4000; i++) {
                    map.position(random.nextInt(map.capacity() - record.length));
                    map.get(record);
                }
            }
        }
    }

    static void lines(Path path) throws IOException {
        try (BufferedReader file = Files.newBufferedReader(path)) {
            while (file.readLine() != null)
                sum++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path data = Path.of(arguments[1]), out = Path.of(arguments[2]);
        Random random = new Random(42);

        if (arguments[0].equals("load")) {
            load(data.resolve("weights.bin"));
            return;
        }
        List<Path> list = arguments[0].equals("scan") ? null : files(data);
        for (;;)
            switch (arguments[0]) {
            case "read":
                Collections.shuffle(list, random);
                for (Path path : list)
                    sum += Files.readAllBytes(path).length;
                break;
            case "records":
                records(data.resolve("long.wav"), random);
                break;
            case "lines":
                for (Path path : list)
                    if (path.toString().endsWith(".jsonl"))
                        lines(path);
                break;
            case "mapped":
                mapped(data.resolve("long.wav"), random);
                break;
            case "scan":
                files(data);
                break;
            case "copy":
                for (Path path : list)
                    Files.copy(path, out.resolve(path.getFileName()), StandardCopyOption.REPLACE_EXISTING);
                break;
            case "save":
                save(out.resolve("state"));
                Thread.sleep(200);
                break;
            }
    }
}
