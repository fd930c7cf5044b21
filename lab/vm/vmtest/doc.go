// Package vmtest is a hypervisor in memory, for the tests of whoever asks a
// vm.Hypervisor for machines. It runs nothing, keeps the state a real one
// would, sends the same events, and refuses what a real one would refuse. It
// must not know doors or clouds.
package vmtest
