#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200

printf 'module example.com/shop\n\ngo 1.22\n' > go.mod
mkdir -p cart price cmd/shop
printf 'package cart\n\nimport "example.com/shop/price"\n\ntype Item struct{ SKU string }\n\nfunc Sum(is []Item) int { return price.Of(is) }\n' > cart/cart.go
printf 'package price\n\nimport "example.com/shop/cart"\n\nfunc Of(is []cart.Item) int { return len(is) * 100 }\n' > price/price.go
printf 'package main\n\nimport "example.com/shop/cart"\n\nfunc main() { println(cart.Sum(nil)) }\n' > cmd/shop/main.go
stage build go build ./cmd/shop
show 03-environment.txt go version
exit 0
