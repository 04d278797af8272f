#!/usr/bin/env bash
set -u
. "$LIB"

export MAVEN_OPTS="-Duser.home=$HOME"
cat > pom.xml <<'X'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>com.example.platform</groupId>
    <artifactId>service-parent</artifactId>
    <version>7.2.0</version>
  </parent>
  <artifactId>orders</artifactId>
</project>
X
stage build mvn -o -B compile
keep 03-config.xml pom.xml
exit 0
