// Package architecture holds the layer rules and the test that enforces them on the import graph:
//
//	domain <- usecase <- interfaceadaptor      infrastructure knows none of the three
//
// and only programs (cmd, tools, rdb-migration/cmd) and tests join the layers. Test files may import any package.
package architecture
