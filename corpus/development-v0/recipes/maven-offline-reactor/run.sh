#!/usr/bin/env bash
set -u
. "$LIB"

export MAVEN_OPTS="-Duser.home=$HOME"
mkdir -p api core release
for m in api core; do
  cat > $m/pom.xml <<X
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>com.example.orders</groupId>
    <artifactId>orders</artifactId>
    <version>3.4.0</version>
  </parent>
  <artifactId>orders-$m</artifactId>
</project>
X
done
cat > pom.xml <<'X'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example.orders</groupId>
  <artifactId>orders</artifactId>
  <version>3.4.0</version>
  <packaging>pom</packaging>
  <modules>
    <module>api</module>
    <module>core</module>
  </modules>
  <build>
    <extensions>
      <extension>
        <groupId>com.example.build</groupId>
        <artifactId>stamp-extension</artifactId>
        <version>1.9.2</version>
      </extension>
    </extensions>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-jar-plugin</artifactId>
      </plugin>
    </plugins>
  </build>
</project>
X
cat > release.sh <<'X'
echo "release: orders 3.4.0"
mvn -o -B -q package > mvn.log 2>&1
for j in api/target/orders-api-3.4.0.jar core/target/orders-core-3.4.0.jar; do
  sha256sum "$j" >> release/SHA256
done
echo "release: verifying"
sha256sum -c release/SHA256 || { echo "release: verification failed, nothing was published"; exit 1; }
X
stage deploy bash release.sh
keep 04-config.xml pom.xml
keep 03-service_log.log mvn.log
exit 0
