/** Filters a script's output, so that a script cannot forge the runner's own sections. */

export type Output = {
  write: (chunk: Buffer) => void;
  /** Closes the sections that the script left open and resets its color. */
  end: () => void;
};

/** Section names reserved for the runner. */
const ownNames = new Set([
  ...'prepare_executor prepare_script get_sources clear_worktree restore_cache download_artifacts'.split(' '),
  ...'after_script archive_cache archive_cache_on_failure upload_artifacts_on_success'.split(' '),
  ...'upload_artifacts_on_failure cleanup_file_variables resolve_secrets'.split(' '),
]);

const isOwn = (name: string): boolean => ownNames.has(name) || name.startsWith('step_');

const marker = /section_(start|end):(\d+):([\w.-]+)/g;
const beginning = 'section_';
/** Matches an incomplete marker at the end of a chunk. */
const partial = /^section_[a-z]*(?::\d*(?::[\w.-]*)?)?$/;
const maxMarkerLength = 320;
/** Maximum open sections that are tracked. */
const maxOpenSections = 1_000;

/** Returns the offset from which the text may be the start of a marker. */
const openEnd = (text: string): number => {
  const at = text.lastIndexOf(beginning);
  if (at !== -1 && text.length - at < maxMarkerLength && partial.test(text.slice(at))) return at;
  for (let size = Math.min(beginning.length - 1, text.length); size > 0; size -= 1) {
    if (text.endsWith(beginning.slice(0, size))) return text.length - size;
  }
  return text.length;
};

const color = /\u001B\[([\d;]*)m/g; // oxlint-disable-line no-control-regex -- terminal escape codes

/** Renames sections with reserved names, also when chunks split a marker. */
export const makeOutput = (write: (bytes: Buffer) => void): Output => {
  const open = new Set<string>();
  let carry = '';
  let last = '\n';
  let isColored = false;

  const rename = (whole: string, kind: string, time: string, name: string): string => {
    const ours = isOwn(name) ? `job_${name}` : name;
    if (kind === 'end') open.delete(ours);
    else if (open.size < maxOpenSections) open.add(ours);
    return ours === name ? whole : `section_${kind}:${time}:${ours}`;
  };
  const pass = (text: string): void => {
    if (text === '') return;
    const shown = text.replaceAll(marker, rename);
    for (const [, codes = ''] of shown.matchAll(color)) isColored = !/^0?(?:;0?)*$/.test(codes);
    last = shown.at(-1) ?? last;
    write(Buffer.from(shown, 'latin1'));
  };
  return {
    write: (chunk) => {
      const text = carry + chunk.toString('latin1');
      const end = openEnd(text);
      carry = text.slice(end);
      pass(text.slice(0, end));
    },
    end: () => {
      pass(carry);
      carry = '';
      const seconds = Math.floor(Date.now() / 1000);
      const closed = [...open].map((name) => `section_end:${seconds}:${name}\r\u001B[0K`).join('');
      const rest = `${isColored ? '\u001B[0m' : ''}${last === '\n' ? '' : '\n'}${closed}`;
      if (rest !== '') write(Buffer.from(rest, 'latin1'));
      open.clear();
    },
  };
};
