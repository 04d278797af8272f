#!/usr/bin/env bash
set -u
. "$LIB"

sqlite3 shop.db 'create table customers (id integer primary key, email text unique not null)'
cat > customers.sql <<'X'
insert into customers (email) values ('ana@example.com');
insert into customers (email) values ('bo@example.com');
insert into customers (email) values ('cy@example.com');
insert into customers (email) values ('bo@example.com');
X
stage load sqlite3 -bail shop.db '.read customers.sql'
show 03-environment.txt sqlite3 shop.db .schema
exit 0
