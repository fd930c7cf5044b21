// Package providertest is what every provider has to pass: the promises of
// providers.Provider as tests. The packages of the clouds call Run against the
// lab's doors. It must not know any cloud.
package providertest
