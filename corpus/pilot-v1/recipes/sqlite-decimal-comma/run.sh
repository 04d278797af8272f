. "$LIB"
python3 - >rates.csv <<'P'
print("code,region,amount,valid_from")
for i in range(1, 61):
    amount = "%d.%02d" % (10 + i * 3 % 47, i * 17 % 100)
    if i in (23, 48): amount = amount.replace(".", ",")
    print("T%03d,%s,%s,2024-%02d-01" % (i, ["north", "south", "east"][i % 3], amount, 1 + i % 12))
P
cat >schema.sql <<'S'
create table rates(code text primary key, region text not null, amount numeric not null, valid_from text not null);
create table control(name text primary key, value numeric);
insert into control values ('rows', 60), ('amount', 1996.30);
S
cat >load.sh <<'S'
#!/bin/bash
rm -f rates.db
sqlite3 rates.db <schema.sql
sqlite3 rates.db '.mode csv' '.import --skip 1 rates.csv rates' >import.log 2>&1
rows=$(sqlite3 rates.db 'select count(*) from rates')
sum=$(sqlite3 rates.db "select printf('%.2f', sum(amount)) from rates")
want=$(sqlite3 rates.db "select printf('%.2f', value) from control where name = 'amount'")
echo "load: $rows rows in table rates"
if [ "$sum" != "$want" ]; then
  echo "load: control sum $sum, expected $want"
  echo "load: publication of table rates stopped"
  exit 2
fi
S
chmod +x load.sh
want=$(python3 -c "print('%.2f' % sum(float('%d.%02d' % (10 + i * 3 % 47, i * 17 % 100)) for i in range(1, 61)))")
sed -i "s/1996.30/$want/" schema.sql
stage load ./load.sh
keep 03-service_log.log import.log
keep 04-data.csv rates.csv
keep 05-source.sql schema.sql
show 06-environment.txt sqlite3 --version
