#!/usr/bin/env bash
set -u
. "$LIB"

export PGCONNECT_TIMEOUT=5
stage load psql -X -h 127.0.0.1 -p 5432 -U app -d app -c 'select count(*) from orders'
exit 0
