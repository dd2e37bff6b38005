/**
 * Reads expected.txt: the expected response for a person, an endpoint and a situation. Independent of the code under
 * test.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Visibility = 'private' | 'internal' | 'public';
export type Switch = 'enabled' | 'private' | 'disabled';
export type IssueState = 'plain' | 'confidential' | 'deleted';

/** Everything that a response depends on, besides the endpoint and the person. */
export type Situation = {
  visibility: Visibility;
  /** Access level of both the issues and the merge requests of the project. */
  issues: Switch;
  /** Access level of the merge requests, if it differs. */
  merge_requests?: Switch;
  /** Access level of the repository. */
  code?: Switch;
  /** Access level of jobs and pipelines. */
  builds?: Switch;
  /** Pipelines are visible to reporters and above. */
  closed_builds?: true;
  archived?: true;
  issue: IssueState;
};

/** One line of a table: an endpoint, requested in one way. */
export type Row = {
  /** `everybody`, `instance`, `group`, `project`, `issues switched`, `trackers switched`, `issue`, `code`, `jobs`, `merge request`. */
  kind: string;
  /** As in the route list: `PUT /projects/:id`. */
  endpoint: string;
  method: string;
  path: string;
  /** The row with its `{words}`, which names the recipe. */
  name: string;
  answers: Map<string, string>;
};

type Block = { title: string; columns: string[]; lines: string[] };

const text = readFileSync(join(import.meta.dirname, 'expected.txt'), 'utf8');

const blocks: Block[] = text
  .split(/\n(?=\[)/)
  .slice(1)
  .map((block) => {
    const [head = '', ...lines] = block.split('\n');
    const [title = '', ...columns] = head.split(/\s{2,}/);
    return { title: title.slice(1, title.indexOf(']')), columns, lines };
  });

const block = (title: string): Block => {
  const found = blocks.find((one) => one.title === title);
  if (found === undefined) throw new Error(`expected.txt has no [${title}]`);
  return found;
};

const rowPattern = /^((GET|POST|PUT|PATCH|DELETE) (\S+))( \{[^}]+\})?\s+(\S.*)$/;

const rowOf = (line: string, { title, columns }: Block): Row => {
  const [, endpoint = '', method = '', path = '', words = '', rest = ''] = rowPattern.exec(line) ?? [];
  const cells = rest.trim().split(/\s+/);
  if (cells.length !== columns.length)
    throw new Error(`${cells.length} answers for ${columns.length} columns: ${line}`);
  const answers = new Map<string, string>();
  columns.forEach((column, at) => {
    const cell = cells[at] ?? '';
    answers.set(column, cell === '.' ? (answers.get(columns[at - 1] ?? '') ?? '') : cell);
  });
  return { kind: title, endpoint, method, path, name: `${endpoint}${words}`, answers };
};

const isRow = (line: string): boolean => /^(GET|POST|PUT|PATCH|DELETE) /.test(line);

export const rows: Row[] = blocks
  .filter(({ title }) => title !== 'people' && !title.startsWith('scopes'))
  .flatMap((one) => one.lines.filter(isRow).map((line) => rowOf(line, one)));

const readUser = new Set(block('scopes').lines.filter(isRow));

type Where = Visibility | 'instance';

const standings = new Map(
  block('people')
    .lines.map((line) => line.split(/\s{2,}/))
    .filter((cells) => cells.length === 5)
    .map(([name = '', ...cells]) => [name, cells] as const),
);

export const peopleNames = [...standings.keys()];

const placesInOrder: Where[] = ['private', 'internal', 'public', 'instance'];

const standingOf = (person: string, where: Where): { standing: string; own: boolean } => {
  const cell = standings.get(person)?.[placesInOrder.indexOf(where)];
  if (cell === undefined) throw new Error(`nobody is called ${person}`);
  return { standing: cell.replace('+own', ''), own: cell.endsWith('+own') };
};

/** The response that a person gets for every request; undefined if it depends. */
const byCredential = (person: string, { method, endpoint }: Row): string | undefined => {
  if (/, (invalid|revoked|expired) token$/.test(person)) return '401';
  if (person === 'blocked owner') return '403B';
  if (person.endsWith(', read_api') && method !== 'GET') return '403S';
  if (person.endsWith(', read_user') && !readUser.has(endpoint)) return '403S';
  return undefined;
};

const isOff = (setting: Switch, standing: string): boolean =>
  setting === 'disabled' || (setting === 'private' && standing === 'visitor');

const isHidden = ({ issues, issue }: Situation, standing: string, own: boolean): boolean =>
  issue === 'deleted' ||
  isOff(issues, standing) ||
  (issue === 'confidential' && !own && ['visitor', 'guest'].includes(standing));

/** Anonymous, where access would be granted if the code, or the jobs, were public. */
const isShut = ({ kind }: Row, { visibility, code = 'enabled', builds = 'enabled' }: Situation): boolean => {
  if (visibility !== 'public' || (kind !== 'code' && kind !== 'jobs')) return false;
  return code !== 'enabled' || (kind === 'jobs' && builds !== 'enabled');
};

const columnOfRequest = (situation: Situation, standing: string, own: boolean): string => {
  const { issues, merge_requests = issues, code = 'enabled', issue } = situation;
  if (isOff(merge_requests, standing) || isOff(code, standing)) return 'off';
  if (issue === 'deleted') return 'gone';
  return own ? 'own' : standing;
};

const areJobsOff = ({ code = 'enabled', builds = 'enabled' }: Situation, standing: string): boolean =>
  isOff(code, standing) || isOff(builds, standing);

const columnOf = (row: Row, situation: Situation, standing: string, own: boolean): string => {
  const { kind } = row;
  if (standing === 'nobody' && isShut(row, situation)) return 'shut';
  if (standing === 'nobody' || standing === 'out') return standing;
  const { issues, merge_requests = issues } = situation;
  switch (kind) {
    case 'issue':
      return isHidden(situation, standing, own) ? 'hidden' : own ? 'own' : standing;
    case 'issues switched':
      return isOff(issues, standing) ? 'off' : standing;
    case 'trackers switched':
      return isOff(issues, standing) && isOff(merge_requests, standing) ? 'off' : standing;
    case 'code':
      return isOff(situation.code ?? 'enabled', standing) ? 'off' : standing;
    case 'jobs':
      return areJobsOff(situation, standing) ? 'off' : standing;
    case 'merge request':
      return columnOfRequest(situation, standing, own);
    default:
      return standing;
  }
};

const visibilities: Visibility[] = ['private', 'internal', 'public'];

/** The table's word for the response to a person: `200`, `404P`... */
export const expectedAnswer = (row: Row, person: string, situation: Situation): string => {
  if (row.kind === 'everybody') return row.answers.get('answer') ?? '';
  const always = byCredential(person, row);
  if (always !== undefined) return always;
  const { standing, own } = standingOf(person, row.kind === 'instance' ? 'instance' : situation.visibility);
  const column = columnOf(row, situation, standing, own);
  const cell = row.answers.get(column);
  if (cell === undefined) throw new Error(`${row.name} has no answer for ${column}`);
  const byVisibility = cell.split('/');
  const inAny = byVisibility[visibilities.indexOf(situation.visibility)] ?? byVisibility[0] ?? '';
  const [inLiving = '', inArchived = inLiving] = inAny.split('@');
  const [whereOpen = '', whereClosed = whereOpen] = (
    situation.archived === true ? inArchived : inLiving
  ).split('~');
  const one = situation.closed_builds === true ? whereClosed : whereOpen;
  const [usual = '', toAdmin = usual] = one.split('|');
  if (standing === 'admin') return toAdmin;
  const [toAuthor = '', toAssignee = toAuthor] = usual.split('&');
  return person.endsWith('assignee') ? toAssignee : toAuthor;
};

type Answer = { status: number; body: unknown; text: string };

const words: [word: string, status: number, message: unknown][] = [
  ['400M', 400, 'Cannot move issue due to insufficient permissions!'],
  ['400M', 400, 'Cannot clone issue due to insufficient permissions!'],
  ['400N', 400, { namespace: ['is not valid'] }],
  ['400B', 400, { source_branch: ['does not exist'] }],
  ['400R', 400, { base: ['Reference not found'] }],
  ['400C', 400, { base: ['Commit not found'] }],
  ['400G', 400, 'Merge request is not mergeable'],
  ['401', 401, '401 Unauthorized'],
  ['403', 403, '403 Forbidden'],
  ['403B', 403, '403 Forbidden - Your account has been blocked.'],
  [
    '403L',
    403,
    ['Personal project creation is not allowed. Please contact your administrator with questions'],
  ],
  ['403R', 403, '403 Forbidden - Cannot push to source branch'],
  ['404', 404, '404 Not found'],
  ['404F', 404, '404 Not Found'],
  ['404P', 404, '404 Project Not Found'],
  ['404G', 404, '404 Group Not Found'],
  ['404I', 404, '404 Issue Not Found'],
  ['404N', 404, '404 Namespace Not Found'],
  ['404U', 404, '404 User Not Found'],
  ['404K', 404, '404 Key Not Found'],
  ['404R', 404, '404 Runner Not Found'],
  ['404D', 404, '404 Deploy Key Not Found'],
  ['404S', 404, '404 Snippet Not Found'],
  ['404V', 404, '404 Signature Not Found'],
  ['404W', 404, '404 GPG Key Not Found'],
  ['404E', 404, '404 Email Not Found'],
  ['400T', 400, '400 Missing header Content-Range'],
  ['501', 501, 'Job Router is not available. Please contact your administrator.'],
  ['405B', 405, 'Branch cannot be merged'],
  ['409O', 409, 'The line was changed in a more recent version, so the suggestion cannot be applied.'],
];

const insufficientScope = {
  error: 'insufficient_scope',
  error_description: 'The request requires higher privileges than provided by the access token.',
};

/**
 * The table's word for a response, or the response in full if there is none. `held`: whether a list contains the
 * record.
 */
export const wordFor = ({ status, body, text }: Answer, held: boolean | null): string => {
  if (status === 204 || status === 304) return text === '' ? String(status) : `${status} with a body`;
  if (status < 300) return `${status}${held === null ? '' : held ? '+' : '-'}`;
  const { message, error, error_description } = body as Record<string, unknown>;
  if (status === 403 && JSON.stringify({ error, error_description }) === JSON.stringify(insufficientScope))
    return '403S';
  // Says why the receiver of a webhook was not reached, which depends on the network.
  if (status === 422) return '422';
  const known = words.find(
    ([, code, said]) => code === status && JSON.stringify(said) === JSON.stringify(message),
  );
  return known?.[0] ?? `${status} ${text.slice(0, 200)}`;
};
