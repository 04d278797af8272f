// Command assay decides with evidence whether a local model route may be
// promoted into the governed specialist stack. This package owns flags,
// wiring and exit codes; every command calls one function below it.
package main

import "os"

func main() { os.Exit(run(processState())) }
