// Command antipode-probe measures between two machines: the agent a run pushes to each.
package main

func main() {}
