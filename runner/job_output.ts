/** What a script prints, so that it cannot stand for what the runner says: neither ends its sections nor hides them. */

export type Output = {
  write: (chunk: Buffer) => void;
  /** The script is over: what it left open is closed. */
  end: () => void;
};

/** Of the runner alone. */
const ownNames = new Set([
  ...'prepare_executor prepare_script get_sources clear_worktree restore_cache download_artifacts'.split(' '),
  ...'after_script archive_cache archive_cache_on_failure upload_artifacts_on_success'.split(' '),
  ...'upload_artifacts_on_failure cleanup_file_variables resolve_secrets'.split(' '),
]);

const isOwn = (name: string): boolean => ownNames.has(name) || name.startsWith('step_');

const marker = /section_(start|end):(\d+):([\w.-]+)/g;
const beginning = 'section_';
/** A marker that is still being written. */
const partial = /^section_[a-z]*(?::\d*(?::[\w.-]*)?)?$/;
const longestMarker = 320;
/** Sections that are closed at the end; more are nobody's honest log. */
const mostOpen = 1_000;

/** From where on the text may be the beginning of a marker. */
const openEnd = (text: string): number => {
  const at = text.lastIndexOf(beginning);
  if (at !== -1 && text.length - at < longestMarker && partial.test(text.slice(at))) return at;
  for (let size = Math.min(beginning.length - 1, text.length); size > 0; size -= 1) {
    if (text.endsWith(beginning.slice(0, size))) return text.length - size;
  }
  return text.length;
};

const colour = /\u001B\[([\d;]*)m/g; // oxlint-disable-line no-control-regex -- of terminals

export const makeOutput = (write: (bytes: Buffer) => void): Output => {
  const open = new Set<string>();
  let carry = '';
  let last = '\n';
  let isColoured = false;

  const rename = (whole: string, kind: string, time: string, name: string): string => {
    const ours = isOwn(name) ? `job_${name}` : name;
    if (kind === 'end') open.delete(ours);
    else if (open.size < mostOpen) open.add(ours);
    return ours === name ? whole : `section_${kind}:${time}:${ours}`;
  };
  const pass = (text: string): void => {
    if (text === '') return;
    const shown = text.replaceAll(marker, rename);
    for (const [, codes = ''] of shown.matchAll(colour)) isColoured = !/^0?(?:;0?)*$/.test(codes);
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
      const rest = `${isColoured ? '\u001B[0m' : ''}${last === '\n' ? '' : '\n'}${closed}`;
      if (rest !== '') write(Buffer.from(rest, 'latin1'));
      open.clear();
    },
  };
};
