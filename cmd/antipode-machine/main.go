// Command antipode-machine is the first process of a lab machine.
package main

func main() {}
