/** Parses `include` entries, and words the errors of fetching them. The caller of the compiler fetches. */
import { type Node, getEntry, getString } from '../syntax/node.ts';

export type IncludeTarget =
  /** In the same project and commit as the including file; `*` and `**` match several files. */
  | { type: 'local'; path: string }
  | { type: 'file'; project: string; ref: string | null; path: string }
  | { type: 'template'; name: string }
  /** `integrity`: `sha256-` and the base64 digest of the content. */
  | { type: 'remote'; url: string; integrity: string | null }
  | { type: 'component'; address: string }
  /** An artifact of a job in the parent pipeline. */
  | { type: 'artifact'; job: string; path: string };

/** `origin` is passed to `fetch` for the file's own includes. */
export type IncludedFile = { name: string; text: string; origin: unknown };

/**
 * `missing`: no such file; `project`: no readable project; `reference`: no such ref; `refused`: includes of this type
 * are not allowed here; `unreadable`: not text, or too large; `homeless`: the including file belongs to no project;
 * `no_job`: no job of this name has artifacts; `foreign`: the origin is not allowed; `unreachable`: the request failed;
 * `tampered`: the content does not match `integrity`.
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
  target: IncludeTarget,
  origin: unknown,
) => Promise<{ files: IncludedFile[] } | { problem: FetchProblem }>;

type Expand = (text: string) => string;

const parseTextEntry = (text: string): IncludeTarget =>
  /^https?:\/\//i.test(text)
    ? { type: 'remote', url: text, integrity: null }
    : { type: 'local', path: text.replace(/^\//, '') };

const parseFiles = (node: Node, project: string, expand: Expand): IncludeTarget[] | null => {
  const file = getEntry(node, 'file');
  const names = file?.kind === 'list' ? file.items.map(getString) : [getString(file)];
  const ref = getString(getEntry(node, 'ref'));
  const target = names.map((name): IncludeTarget | null =>
    name === null
      ? null
      : {
          type: 'file',
          project: expand(project).replace(/^\//, ''),
          ref: ref === null ? null : expand(ref),
          path: expand(name).replace(/^\//, ''),
        },
  );
  const valid = target.filter((one) => one !== null);
  return valid.length === target.length ? valid : null;
};

/** Parses an entry; null unless it names exactly one target. */
export const parseIncludeEntry = (node: Node, expand: Expand): IncludeTarget[] | null => {
  const text = getString(node);
  if (text !== null) return [parseTextEntry(expand(text))];
  const getText = (key: string): string | null => getString(getEntry(node, key));
  const [local, project, template, remote, component, artifact] = [
    getText('local'),
    getText('project'),
    getText('template'),
    getText('remote'),
    getText('component'),
    getText('artifact'),
  ];
  const named = [local, project, template, remote, component, artifact].filter((one) => one !== null);
  if (named.length !== 1) return null;
  if (local !== null) return [{ type: 'local', path: expand(local).replace(/^\//, '') }];
  if (project !== null) return parseFiles(node, project, expand);
  if (template !== null) return [{ type: 'template', name: expand(template) }];
  if (remote !== null) return [{ type: 'remote', url: expand(remote), integrity: getText('integrity') }];
  if (component !== null) return [{ type: 'component', address: expand(component) }];
  const job = getText('job');
  return artifact === null || job === null
    ? null
    : [{ type: 'artifact', job: expand(job), path: expand(artifact).replace(/^\//, '') }];
};

const describeFile = (target: IncludeTarget, name: string): string => {
  switch (target.type) {
    case 'file':
      return `Project \`${target.project}\` file \`${name}\``;
    case 'local':
      return `Local file \`${name}\``;
    case 'template':
      return `Template file \`${name}\``;
    case 'remote':
      return `Remote file \`${name}\``;
    case 'artifact':
      return `Artifact \`${name}\` of job \`${target.job}\``;
    default:
      return `Component \`${name}\``;
  }
};

const getAddress = (target: IncludeTarget): string => {
  switch (target.type) {
    case 'local':
    case 'file':
    case 'artifact':
      return target.path;
    case 'template':
      return target.name;
    case 'remote':
      return target.url;
    default:
      return target.address;
  }
};

const toRefusedText = (target: IncludeTarget): string => {
  const address = getAddress(target);
  if (target.type === 'component') {
    const host = address.split('/')[0] ?? '';
    return `Component \`${address}\` lies on \`${host}\`: components of other hosts are not available`;
  }
  if (target.type === 'remote') return `Remote file \`${address}\` is not allowed: remote includes are off`;
  if (target.type === 'artifact') {
    return 'Including configs from artifacts is only allowed when triggering child pipelines';
  }
  return `${describeFile(target, address)} is not available here!`;
};

/** Errors that only occur with remote files. */
const remoteTexts: Partial<Record<FetchProblem, string>> = {
  foreign: 'is not allowed: files are not included from its host',
  unreachable: 'could not be fetched!',
  tampered: 'is not what its `integrity` says!',
};

const toProblemText = (target: IncludeTarget, problem: FetchProblem): string => {
  const remoteText = remoteTexts[problem];
  if (remoteText !== undefined) return `${describeFile(target, getAddress(target))} ${remoteText}`;
  const project = target.type === 'file' ? `Project \`${target.project}\`` : 'Project';
  if (problem === 'project') return `${project} not found or access denied!`;
  if (problem === 'reference') {
    return `${project} reference \`${target.type === 'file' ? (target.ref ?? 'HEAD') : ''}\` does not exist!`;
  }
  if (problem === 'homeless') return `${describeFile(target, getAddress(target))} does not have project!`;
  if (problem === 'refused') return toRefusedText(target);
  if (problem === 'unreadable')
    return `${describeFile(target, getAddress(target))} is not a text, or too big!`;
  if (problem === 'no_job' && target.type === 'artifact') {
    return `Job \`${target.job}\` not found in parent pipeline or does not have artifacts!`;
  }
  if (target.type === 'template') return `Template file \`${target.name}\` is not a valid location!`;
  return `${describeFile(target, getAddress(target))} does not exist!`;
};

/** Texts of include errors. */
export const includeProblems = {
  describeFile,
  getText: toProblemText,
  extension: (name: string): string => `Included file \`${name}\` does not have YAML extension!`,
  noKey:
    'does not have a valid subkey for include. Valid subkeys are: ' +
    '`local`, `project`, `template`, `remote`, `component`',
  getExtra: (target: IncludeTarget): Record<string, string> =>
    target.type === 'file'
      ? { project: target.project, ...(target.ref !== null && { ref: target.ref }) }
      : {},
};
