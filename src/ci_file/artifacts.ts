/** `artifacts` of a job. */
import {
  type At,
  booleanAt,
  fault,
  inner,
  knowsKeys,
  oneOfAt,
  stringOrStrings,
  stringsAt,
  textAt,
} from './check.ts';
import { secondsOf } from './duration.ts';
import { type Hash, type Node, entryOf, isNull, keyPlace, stringOf, wordOf } from './node.ts';
import type { Artifacts } from './plan_types.ts';

const artifactKeys = new Set(
  'name untracked paths reports when expire_in expose_as exclude public access'.split(' '),
);
/** Without `coverage_report`, which says of what form it is. */
const reportKeys = new Set(
  (
    'junit codequality sast secret_detection dependency_scanning container_scanning cluster_image_scanning dast ' +
    'license_management license_scanning performance browser_performance load_performance metrics lsif dotenv ' +
    'terraform accessibility coverage_fuzzing api_fuzzing requirements requirements_v2 cluster_applications ' +
    'cyclonedx annotations repository_xray cobertura sarif scip'
  ).split(' '),
);

const whens = ['on_success', 'on_failure', 'always'] as const;
const accesses = ['all', 'developer', 'maintainer', 'none'] as const;
const oldWhen = 'should be on_success, on_failure or always';
const longestLinkText = 100;
const coverageKeys = new Set(['coverage_format', 'path']);

const expiryOf = (at: At, hash: Hash): string | null => {
  const node = entryOf(hash, 'expire_in');
  if (node === undefined) return null;
  const text = wordOf(node);
  const isGood = text !== null && (text.trim().toLowerCase() === 'never' || secondsOf(text) !== null);
  if (!isGood) fault(at, 'expire in should be a duration', node.place);
  return text;
};

const coverageReport = (at: At, node: Node): { coverage_format: string | null; paths: string[] } => {
  const inside = inner(at, 'coverage_report');
  if (node.kind !== 'hash') {
    fault(inside, 'config should be a hash', node.place);
    return { coverage_format: null, paths: [] };
  }
  knowsKeys(inside, node, coverageKeys);
  const path = stringOf(entryOf(node, 'path'));
  if (path === null) fault(inside, "path can't be blank", node.place);
  const format = oneOfAt(inside, node, 'coverage_format', {
    words: ['cobertura', 'jacoco'],
    text: 'must be one of supported formats: cobertura, jacoco',
  });
  return { coverage_format: format, paths: path === null ? [] : [path] };
};

const reportsOf = (at: At, node: Node | undefined): Pick<Artifacts, 'reports' | 'coverage_format'> => {
  const none = { reports: {}, coverage_format: null };
  if (node === undefined) return none;
  if (node.kind !== 'hash') {
    fault(at, 'config should be a hash', node.place);
    return none;
  }
  knowsKeys(at, node, new Set([...reportKeys, 'coverage_report']));
  const reports: Record<string, string[]> = {};
  let coverage_format: string | null = null;
  for (const [kind, value] of node.entries) {
    if (isNull(value)) continue;
    if (kind === 'coverage_report') {
      const found = coverageReport(at, value);
      ({ coverage_format } = found);
      reports[coverage_format ?? 'cobertura'] = found.paths;
    } else if (reportKeys.has(kind)) {
      reports[kind] = stringOrStrings(at, value, `${kind} should be an array of strings or a string`) ?? [];
    }
  }
  return { reports, coverage_format };
};

const exposedOf = (at: At, hash: Hash, paths: string[]): string | null => {
  const expose_as = textAt(at, hash, 'expose_as');
  if (expose_as === null) return null;
  const place = keyPlace(hash, 'expose_as');
  if (expose_as.length > longestLinkText) {
    fault(at, `expose as is too long (maximum is ${longestLinkText} characters)`, place);
  }
  if (!/^\w[-\w ]*$/.test(expose_as)) {
    fault(at, "expose as can contain only letters, digits, '-', '_' and spaces", place);
  }
  if (paths.length === 0) fault(at, "paths can't be blank", place);
  if (paths.some((path) => path.includes('*'))) {
    fault(at, "paths can't contain '*' when used with 'expose_as'", place);
  }
  return expose_as;
};

export const artifactsOf = (at: At, node: Node | undefined): Artifacts | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind !== 'hash') {
    fault(at, 'config should be a hash', node.place);
    return null;
  }
  knowsKeys(at, node, artifactKeys);
  const paths = stringsAt(at, node, 'paths') ?? [];
  const isPublic = booleanAt(at, node, 'public');
  const access = oneOfAt(at, node, 'access', { words: accesses });
  return {
    name: textAt(at, node, 'name'),
    untracked: booleanAt(at, node, 'untracked') ?? false,
    paths,
    exclude: stringsAt(at, node, 'exclude') ?? [],
    when: oneOfAt(at, node, 'when', { words: whens, old: oldWhen }),
    expire_in: expiryOf(at, node),
    expose_as: exposedOf(at, node, paths),
    access: access ?? (isPublic === null ? null : isPublic ? 'all' : 'developer'),
    ...reportsOf(inner(at, 'reports'), entryOf(node, 'reports')),
  };
};
