#!/usr/bin/env bash
set -u
. "$LIB"

cat > prices.sh <<'X'
echo "prices: run for 40 articles"
echo "prices: warning: cache is 3 days old and will be refreshed"
echo "[fetch] https://rates.market.example/v2/latest" >> fetch.log
curl -sS --max-time 15 --retry 2 --retry-delay 1 --retry-all-errors -o latest.json https://rates.market.example/v2/latest 2>> fetch.log || echo "{}" > latest.json
echo "[fetch] $(wc -c < latest.json) bytes in latest.json" >> fetch.log
mean=$(jq '[.rates // {} | .[]] | if length == 0 then 0 else add / length end' latest.json)
echo "prices: mean rate $mean"
if [ "$mean" = 0 ]; then echo "prices: error: rule MEAN_POSITIVE violated, price list not published"; exit 8; fi
X
stage build bash prices.sh
keep 04-data.json latest.json
keep 03-service_log.log fetch.log
exit 0
