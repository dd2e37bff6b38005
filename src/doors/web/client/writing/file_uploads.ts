/** Uploads files that are pasted into, dropped on or chosen for a Markdown field of a project, and links to them. */
type Upload = { markdown: string };

const editorOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('.markdown-editor[data-project]') : null;

/** Replaces a part of the text as typing does, so that other listeners see it. */
const replace = (area: HTMLTextAreaElement, old: string, text: string): void => {
  const at = area.value.indexOf(old);
  if (at === -1) return;
  area.setRangeText(text, at, at + old.length, 'preserve');
  area.dispatchEvent(new Event('input', { bubbles: true }));
};

const insert = (area: HTMLTextAreaElement, text: string): void => {
  const before = area.value.slice(0, area.selectionStart);
  const lead = before === '' || before.endsWith('\n') ? '' : '\n';
  area.setRangeText(`${lead}${text}\n`, area.selectionStart, area.selectionEnd, 'end');
  area.dispatchEvent(new Event('input', { bubbles: true }));
};

const statusOf = (editor: HTMLElement): HTMLElement => {
  const existing = editor.querySelector<HTMLElement>('.upload-status');
  if (existing !== null) return existing;
  const status = document.createElement('p');
  status.className = 'hint upload-status';
  status.setAttribute('role', 'status');
  editor.append(status);
  return status;
};

/** Returns what the service says of a refusal: `message` or `error` of its JSON. */
const reasonOf = async (answer: Response): Promise<string> => {
  const body = (await answer.json().catch(() => null)) as { message?: unknown; error?: unknown } | null;
  const reason = body?.message ?? body?.error;
  return typeof reason === 'string' ? reason : `status ${answer.status}`;
};

/** @throws Error with the reason */
const send = async (area: HTMLTextAreaElement, project: string, file: File): Promise<string> => {
  const token = area.form?.querySelector<HTMLInputElement>('[name=authenticity_token]')?.value ?? '';
  const body = new FormData();
  body.append('file', file, file.name);
  const url = `/api/v4/projects/${encodeURIComponent(project)}/uploads`;
  const answer = await fetch(url, { method: 'POST', headers: { 'x-csrf-token': token }, body });
  if (!answer.ok) throw new Error(await reasonOf(answer));
  return ((await answer.json()) as Upload).markdown;
};

let count = 0;

const upload = async (editor: HTMLElement, area: HTMLTextAreaElement, file: File): Promise<void> => {
  count += 1;
  const placeholder = `[Uploading ${file.name.replaceAll(/[[\]]/g, '')} (${count})]()`;
  insert(area, placeholder);
  const status = statusOf(editor);
  status.textContent = `Uploading ${file.name}`;
  try {
    replace(area, placeholder, await send(area, editor.dataset['project'] ?? '', file));
    status.textContent = `${file.name} is uploaded.`;
  } catch (error) {
    replace(area, `${placeholder}\n`, '');
    status.textContent = `${file.name} could not be uploaded: ${(error as Error).message}`;
  }
};

const uploadAll = async (editor: HTMLElement, files: readonly File[]): Promise<void> => {
  const area = editor.querySelector('textarea');
  // Sequential, because files are linked in order, and the service accepts few uploads at a time.
  if (area !== null) for (const file of files) await upload(editor, area, file);
};

const onTransfer = (event: Event, data: DataTransfer | null): void => {
  const editor = editorOf(event.target);
  if (editor === null || data === null || data.files.length === 0) return;
  event.preventDefault();
  void uploadAll(editor, [...data.files]);
};

const startDrop = (): void => {
  document.addEventListener('dragover', (event) => {
    const editor = editorOf(event.target);
    if (editor === null || event.dataTransfer?.types.includes('Files') !== true) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    editor.classList.add('dropping');
  });
  for (const end of ['dragleave', 'drop'] as const)
    document.addEventListener(end, ({ target }) => editorOf(target)?.classList.remove('dropping'));
  document.addEventListener('drop', (event) => onTransfer(event, event.dataTransfer));
};

export const startUploads = (): void => {
  startDrop();
  document.addEventListener('paste', (event) => {
    // Office programs add a picture of the text that was copied.
    const isText = event.clipboardData?.types.includes('text/plain') === true;
    if (!isText) onTransfer(event, event.clipboardData);
  });
  document.addEventListener('click', ({ target }) => {
    const isButton = target instanceof Element && target.closest('[data-attach]') !== null;
    if (isButton) editorOf(target)?.querySelector<HTMLInputElement>('input[type=file]')?.click();
  });
  document.addEventListener('change', ({ target }) => {
    const editor = editorOf(target);
    if (editor === null || !(target instanceof HTMLInputElement) || target.files === null) return;
    void uploadAll(editor, [...target.files]).finally(() => (target.value = ''));
  });
};
