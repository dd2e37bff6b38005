/** What an `include` asks for, and what is said where it cannot be had. The caller of the compiler fetches. */
import { type Node, entryOf, stringOf } from './node.ts';

export type Wanted =
  /** Of the same project and commit as the file that names it; `*` and `**` mean several. */
  | { type: 'local'; path: string }
  | { type: 'file'; project: string; ref: string | null; path: string }
  | { type: 'template'; name: string }
  /** With what its bytes have to be, as `sha256-` and their digest in base64. */
  | { type: 'remote'; url: string; integrity: string | null }
  | { type: 'component'; address: string }
  /** What a job of the pipeline that starts this one left. */
  | { type: 'artifact'; job: string; path: string };

/** `origin` comes back with what the file includes itself. */
export type IncludedFile = { name: string; text: string; origin: unknown };

/**
 * `missing`: no such file; `project`: no such project, or nobody may read it; `reference`: no such ref;
 * `refused`: such includes are not allowed here; `unreadable`: it is no text, or too much; `homeless`: the file that
 * names it is of no project; `no_job`: no job of this name left anything; `foreign`: its host is none from which files
 * are included; `unreachable`: it did not come; `tampered`: it is another than was said.
 */
export type FetchProblem =
  | 'no_job'
  | 'missing'
  | 'project'
  | 'reference'
  | 'refused'
  | 'unreadable'
  | 'homeless'
  | 'foreign'
  | 'unreachable'
  | 'tampered';

export type Fetch = (
  wanted: Wanted,
  origin: unknown,
) => Promise<{ files: IncludedFile[] } | { problem: FetchProblem }>;

type Expand = (text: string) => string;

const byText = (text: string): Wanted =>
  /^https?:\/\//i.test(text)
    ? { type: 'remote', url: text, integrity: null }
    : { type: 'local', path: text.replace(/^\//, '') };

const filesOf = (node: Node, project: string, expand: Expand): Wanted[] | null => {
  const file = entryOf(node, 'file');
  const names = file?.kind === 'list' ? file.items.map(stringOf) : [stringOf(file)];
  const ref = stringOf(entryOf(node, 'ref'));
  const wanted = names.map((name): Wanted | null =>
    name === null
      ? null
      : {
          type: 'file',
          project: expand(project).replace(/^\//, ''),
          ref: ref === null ? null : expand(ref),
          path: expand(name).replace(/^\//, ''),
        },
  );
  const whole = wanted.filter((one) => one !== null);
  return whole.length === wanted.length ? whole : null;
};

/** null: it names nothing, or more than one thing. */
export const wantedOf = (node: Node, expand: Expand): Wanted[] | null => {
  const text = stringOf(node);
  if (text !== null) return [byText(expand(text))];
  const of = (key: string): string | null => stringOf(entryOf(node, key));
  const [local, project, template, remote, component, artifact] = [
    of('local'),
    of('project'),
    of('template'),
    of('remote'),
    of('component'),
    of('artifact'),
  ];
  const given = [local, project, template, remote, component, artifact].filter((one) => one !== null);
  if (given.length !== 1) return null;
  if (local !== null) return [{ type: 'local', path: expand(local).replace(/^\//, '') }];
  if (project !== null) return filesOf(node, project, expand);
  if (template !== null) return [{ type: 'template', name: expand(template) }];
  if (remote !== null) return [{ type: 'remote', url: expand(remote), integrity: of('integrity') }];
  if (component !== null) return [{ type: 'component', address: expand(component) }];
  const job = of('job');
  return artifact === null || job === null
    ? null
    : [{ type: 'artifact', job: expand(job), path: expand(artifact).replace(/^\//, '') }];
};

const nameOf = (wanted: Wanted, name: string): string => {
  switch (wanted.type) {
    case 'file':
      return `Project \`${wanted.project}\` file \`${name}\``;
    case 'local':
      return `Local file \`${name}\``;
    case 'template':
      return `Template file \`${name}\``;
    case 'remote':
      return `Remote file \`${name}\``;
    case 'artifact':
      return `Artifact \`${name}\` of job \`${wanted.job}\``;
    default:
      return `Component \`${name}\``;
  }
};

const addressOf = (wanted: Wanted): string => {
  switch (wanted.type) {
    case 'local':
    case 'file':
    case 'artifact':
      return wanted.path;
    case 'template':
      return wanted.name;
    case 'remote':
      return wanted.url;
    default:
      return wanted.address;
  }
};

const refusedText = (wanted: Wanted): string => {
  const address = addressOf(wanted);
  if (wanted.type === 'component') {
    const host = address.split('/')[0] ?? '';
    return `Component \`${address}\` lies on \`${host}\`: components of other hosts are not available`;
  }
  if (wanted.type === 'remote') return `Remote file \`${address}\` is not allowed: remote includes are off`;
  if (wanted.type === 'artifact') {
    return 'Including configs from artifacts is only allowed when triggering child pipelines';
  }
  return `${nameOf(wanted, address)} is not available here!`;
};

/** What only goes wrong with a file that comes over the net. */
const remoteTexts: Partial<Record<FetchProblem, string>> = {
  foreign: 'is not allowed: its host is none from which files are included',
  unreachable: 'could not be fetched!',
  tampered: 'is not what its `integrity` says!',
};

const textOfProblem = (wanted: Wanted, problem: FetchProblem): string => {
  const ofRemote = remoteTexts[problem];
  if (ofRemote !== undefined) return `${nameOf(wanted, addressOf(wanted))} ${ofRemote}`;
  const project = wanted.type === 'file' ? `Project \`${wanted.project}\`` : 'Project';
  if (problem === 'project') return `${project} not found or access denied!`;
  if (problem === 'reference') {
    return `${project} reference \`${wanted.type === 'file' ? (wanted.ref ?? 'HEAD') : ''}\` does not exist!`;
  }
  if (problem === 'homeless') return `${nameOf(wanted, addressOf(wanted))} does not have project!`;
  if (problem === 'refused') return refusedText(wanted);
  if (problem === 'unreadable') return `${nameOf(wanted, addressOf(wanted))} is not a text, or too big!`;
  if (problem === 'no_job' && wanted.type === 'artifact') {
    return `Job \`${wanted.job}\` not found in parent pipeline or does not have artifacts!`;
  }
  if (wanted.type === 'template') return `Template file \`${wanted.name}\` is not a valid location!`;
  return `${nameOf(wanted, addressOf(wanted))} does not exist!`;
};

/** The words for what goes wrong with an include. */
export const problemText = {
  nameOf,
  of: textOfProblem,
  extension: (name: string): string => `Included file \`${name}\` does not have YAML extension!`,
  noKey:
    'does not have a valid subkey for include. Valid subkeys are: ' +
    '`local`, `project`, `template`, `remote`, `component`',
  extraOf: (wanted: Wanted): Record<string, string> =>
    wanted.type === 'file'
      ? { project: wanted.project, ...(wanted.ref !== null && { ref: wanted.ref }) }
      : {},
};
