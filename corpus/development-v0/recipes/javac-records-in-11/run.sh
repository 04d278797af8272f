#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com
mkdir -p src/valve out
git init -q -b main .
printf 'build.release=11\nbuild.encoding=UTF-8\nbuild.warnings=all\n' > build.properties
for c in Inlet Outlet Relief Bypass; do
  printf 'package valve;\n\nimport java.util.*;\n\npublic class %s {\n    private final List raw = new ArrayList();\n\n    public void add(Object o) { raw.add(o); }\n}\n' $c > src/valve/$c.java
done
printf 'out/\nhome/\n.tmp/\n' > .gitignore
git add -A && git commit -q -m "Valve model, release 11 on all build machines"
cat > src/valve/Reading.java <<'X'
package valve;

public record Reading(String id, double bar) {
    public String level() {
        return switch (id.charAt(0)) {
            case 'H' -> "high";
            case 'L' -> "low";
            default -> "unknown";
        };
    }
}
X
cat > src/valve/Report.java <<'X'
package valve;

public class Report {
    String head(Object o) {
        if (o instanceof Reading r) {
            return """
                reading %s
                """.formatted(r.id());
        }
        return "";
    }
}
X
git add -A && git commit -q -m "Readings become records (needs language level 17)"
cat > build.sh <<'X'
rel=$(sed -n 's/^build.release=//p' build.properties)
echo "build: javac $(javac -version 2>&1), release $rel"
javac -Xlint:all --release "$rel" -d out src/valve/*.java || { echo "build: compile failed"; exit 1; }
X
git log --format='%h %s' --stat > "$OUT/04-history.txt"
keep 03-config.properties build.properties
stage build bash build.sh
exit 0
