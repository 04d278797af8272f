. "$LIB"
chmod 777 "$WORK"
mkdir db && chown 65534 db
as_user initdb -D "$WORK/db" -U postgres -A trust --no-locale -E UTF8 >init.log 2>&1
cat >>db/postgresql.conf <<C
listen_addresses = ''
unix_socket_directories = '$WORK/db'
log_line_prefix = '%t [%p] %a '
deadlock_timeout = 1s
log_checkpoints = off
log_statement = 'all'
shared_buffers = 16MB
C
as_user pg_ctl -D "$WORK/db" -l "$WORK/db/server.log" -w start >/dev/null
export PGHOST=$WORK/db PGUSER=postgres PGDATABASE=postgres
psql -q -c "create table orders(id int primary key, state text); create table stock(sku int primary key, pieces int); insert into orders select g, 'open' from generate_series(1,50) g; insert into stock select g, 10 from generate_series(1,50) g"
cat >0042_stock_units.sql <<'S'
begin;
alter table stock add column unit text default 'pcs';
select pg_sleep(2);
alter table orders add column unit text;
update orders set unit = 'pcs';
insert into orders values (51, 'open', 'pcs');
commit;
S
cat >settle.sql <<'S'
set application_name = 'settlement';
set deadlock_timeout = '30s';
begin;
update orders set state = 'settled' where id <= 20;
select pg_sleep(1);
update stock set pieces = pieces - 1 where sku <= 20;
commit;
S
cat >migrate.sh <<'S'
#!/bin/bash
export PGAPPNAME=migrate
psql -X -q -f 0042_stock_units.sql >migrate.out 2>&1
tail -n 2 migrate.out | sed 's/^psql://'
if grep -q ERROR migrate.out; then echo "migrate: 0042_stock_units not applied, 1 migration pending"; exit 1; fi
S
chmod +x migrate.sh
for i in $(seq 8); do PGAPPNAME=desk psql -X -q -c "select state, count(*) from orders where id > $i group by state" >/dev/null; done
(sleep 0.5; psql -X -q -f settle.sql >settle.out 2>&1) &
stage deploy ./migrate.sh
sleep 1
for i in $(seq 12); do PGAPPNAME=desk psql -X -q -c "select sku, pieces from stock where sku between $i and $i + 3" >/dev/null; done
keep 03-service_log.log db/server.log
keep 04-source.sql 0042_stock_units.sql
show 05-environment.txt psql -X -c 'select count(*) as orders from orders' -c 'show deadlock_timeout' -c 'show max_connections'
as_user pg_ctl -D "$WORK/db" -m immediate stop >/dev/null
