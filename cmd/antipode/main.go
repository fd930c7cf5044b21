// Command antipode measures throughput and round-trip time between cloud regions.
package main

func main() {}
