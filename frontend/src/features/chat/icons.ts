import Box from '@lucide/svelte/icons/box'
import Camera from '@lucide/svelte/icons/camera'
import Download from '@lucide/svelte/icons/download'
import Eye from '@lucide/svelte/icons/eye'
import FileText from '@lucide/svelte/icons/file-text'
import Globe from '@lucide/svelte/icons/globe'
import ListTodo from '@lucide/svelte/icons/list-todo'
import Question from '@lucide/svelte/icons/message-circle-question-mark'
import Pointer from '@lucide/svelte/icons/mouse-pointer-2'
import Pencil from '@lucide/svelte/icons/pencil'
import Terminal from '@lucide/svelte/icons/terminal'
import Type from '@lucide/svelte/icons/type'
import type { ToolKind } from '../../lib/text/tools'

/** The icon of each kind of tool. */
export const toolIcons: Record<ToolKind, typeof Box> = {
  page: Globe,
  read: Eye,
  click: Pointer,
  type: Type,
  picture: Camera,
  write: Pencil,
  file: FileText,
  shell: Terminal,
  web: Download,
  plan: ListTodo,
  ask: Question,
  other: Box,
}
