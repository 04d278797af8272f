package main

// sentinels lists every error kind below that has an exit code of its own.
var sentinels = []sentinel{}
