. "$LIB"
mkdir -p src classes
cat >src/Indexer.java <<'J'
import java.util.*;

public class Indexer {
    static final Map<String, List<int[]>> index = new HashMap<>();

    static void add(String term, int doc) {
        index.computeIfAbsent(term, t -> new ArrayList<>()).add(new int[] {doc, term.length(), 0, 0});
    }

    public static void main(String[] args) {
        int docs = Integer.parseInt(args[0]);
        for (int d = 0; d < docs; d++) {
            if (d % 20000 == 0) System.out.println("indexer: " + d + " of " + docs + " documents");
            for (int w = 0; w < 8; w++) add("term" + (d * 31 + w * 7) % 50000, d);
        }
        System.out.println("indexer: done, " + index.size() + " terms");
    }
}
J
cat >run.conf <<'C'
docs=400000
heap=24m
collector=serial
C
javac -d classes src/Indexer.java
stage load java -Xmx24m -XX:+UseSerialGC -Xlog:gc:file=gc.log -cp classes Indexer 400000
keep 03-config.conf run.conf
keep 05-service_log.log gc.log 60
show 04-environment.txt java -version
keep 05-service_log.log gc.log 60
show 04-environment.txt free -m
