package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// shell prepares the line for cmd, with UTF-8 as its code page.
func shell(ctx context.Context, line string) *exec.Cmd {
	name := os.Getenv("COMSPEC")
	if name == "" {
		name = filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe")
	}
	cmd := exec.CommandContext(ctx, name)
	// cmd has quoting rules of its own, so the line is passed as it is.
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "chcp 65001>nul & ` + line + `"`}
	return cmd
}

// job is a job object: no process in it can leave, and closing it ends all.
type job struct {
	cmd    *exec.Cmd
	handle windows.Handle
}

func newJob(cmd *exec.Cmd, _ string) (*job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(handle)
		return nil, fmt.Errorf("set up job: %w", err)
	}
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP
	return &job{cmd: cmd, handle: handle}, nil
}

// started puts the suspended child into the job and lets it go.
func (j *job) started() error {
	pid := uint32(j.cmd.Process.Pid)
	child, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return fmt.Errorf("open child: %w", err)
	}
	defer func() { _ = windows.CloseHandle(child) }()
	if err := windows.AssignProcessToJobObject(j.handle, child); err != nil {
		return fmt.Errorf("assign child to job: %w", err)
	}
	return resume(pid)
}

func resume(pid uint32) error {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer func() { _ = windows.CloseHandle(snap) }()
	entry := windows.ThreadEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Thread32First(snap, &entry); err == nil; err = windows.Thread32Next(snap, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open thread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		return err
	}
	return fmt.Errorf("find the child's thread: %w", err)
}

func (j *job) kill() error { return windows.TerminateJobObject(j.handle, 1) }

func (j *job) close() { _ = windows.CloseHandle(j.handle) }

// sweep ends what is left in the job.
func (j *job) sweep(limit time.Duration) (ended, left []int) {
	ended = j.members()
	if len(ended) == 0 {
		return nil, nil
	}
	_ = j.kill()
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if left = j.members(); len(left) == 0 {
			return ended, nil
		}
	}
	return nil, left
}

func (j *job) members() []int {
	var list struct {
		assigned, count uint32
		pids            [256]uintptr
	}
	const basicProcessIDList = 3
	if err := windows.QueryInformationJobObject(j.handle, basicProcessIDList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil); err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil
	}
	pids := make([]int, 0, list.count)
	for _, pid := range list.pids[:min(int(list.count), len(list.pids))] {
		pids = append(pids, int(pid))
	}
	return pids
}
