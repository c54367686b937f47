package home

import "golang.org/x/sys/unix"

// onNetwork reports whether a folder lies on another machine.
func onNetwork(dir string) bool {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return false
	}
	return networkKind(int64(stat.Type)) //nolint:unconvert // 32 bits wide on some machines
}

// networkKind knows the numbers of file systems that lie elsewhere. FUSE and
// 9p are not among them: they are often local.
func networkKind(kind int64) bool {
	switch uint32(kind) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.AFS_SUPER_MAGIC,
		0xff534d42, // CIFS
		0xfe534d42, // SMB2
		0x00c36400: // Ceph
		return true
	}
	return false
}
