/** Parses `artifacts` of a job. */
import {
  type At,
  booleanAt,
  reportFault,
  inner,
  checkKeys,
  oneOfAt,
  stringOrStrings,
  stringsAt,
  textAt,
} from './typed_values.ts';
import { parseDuration } from './duration.ts';
import {
  type Hash,
  type Node,
  getEntry,
  isNull,
  getKeyPosition,
  getString,
  getScalarText,
} from '../syntax/node.ts';
import type { Artifacts } from '../config_types.ts';

export const artifactKeys = new Set(
  'name untracked paths reports when expire_in expose_as exclude public access'.split(' '),
);
/** Kinds of reports except `coverage_report`, which is a hash. */
export const reportKeys = new Set(
  (
    'junit codequality sast secret_detection dependency_scanning container_scanning cluster_image_scanning dast ' +
    'license_management license_scanning performance browser_performance load_performance metrics lsif dotenv ' +
    'terraform accessibility coverage_fuzzing api_fuzzing requirements requirements_v2 cluster_applications ' +
    'cyclonedx annotations repository_xray cobertura sarif scip'
  ).split(' '),
);

const whens = ['on_success', 'on_failure', 'always'] as const;
const accessLevels = ['all', 'developer', 'maintainer', 'none'] as const;
const legacyWhenText = 'should be on_success, on_failure or always';
const maxLinkTextLength = 100;
const coverageKeys = new Set(['coverage_format', 'path']);

const parseExpiry = (at: At, hash: Hash): string | null => {
  const node = getEntry(hash, 'expire_in');
  if (node === undefined) return null;
  const text = getScalarText(node);
  const isValid = text !== null && (text.trim().toLowerCase() === 'never' || parseDuration(text) !== null);
  if (!isValid) reportFault(at, 'expire in should be a duration', node.position);
  return text;
};

const parseCoverageReport = (at: At, node: Node): { coverage_format: string | null; paths: string[] } => {
  const inside = inner(at, 'coverage_report');
  if (node.kind !== 'hash') {
    reportFault(inside, 'config should be a hash', node.position);
    return { coverage_format: null, paths: [] };
  }
  checkKeys(inside, node, coverageKeys);
  const path = getString(getEntry(node, 'path'));
  if (path === null) reportFault(inside, "path can't be blank", node.position);
  const format = oneOfAt(inside, node, 'coverage_format', {
    words: ['cobertura', 'jacoco'],
    text: 'must be one of supported formats: cobertura, jacoco',
  });
  return { coverage_format: format, paths: path === null ? [] : [path] };
};

const parseReports = (at: At, node: Node | undefined): Pick<Artifacts, 'reports' | 'coverage_format'> => {
  const none = { reports: {}, coverage_format: null };
  if (node === undefined) return none;
  if (node.kind !== 'hash') {
    reportFault(at, 'config should be a hash', node.position);
    return none;
  }
  checkKeys(at, node, new Set([...reportKeys, 'coverage_report']));
  const reports: Record<string, string[]> = {};
  let coverage_format: string | null = null;
  for (const [kind, value] of node.entries) {
    if (isNull(value)) continue;
    if (kind === 'coverage_report') {
      const coverage = parseCoverageReport(at, value);
      ({ coverage_format } = coverage);
      reports[coverage_format ?? 'cobertura'] = coverage.paths;
    } else if (reportKeys.has(kind)) {
      reports[kind] = stringOrStrings(at, value, `${kind} should be an array of strings or a string`) ?? [];
    }
  }
  return { reports, coverage_format };
};

const parseExposeAs = (at: At, hash: Hash, paths: string[]): string | null => {
  const expose_as = textAt(at, hash, 'expose_as');
  if (expose_as === null) return null;
  const position = getKeyPosition(hash, 'expose_as');
  if (expose_as.length > maxLinkTextLength) {
    reportFault(at, `expose as is too long (maximum is ${maxLinkTextLength} characters)`, position);
  }
  if (!/^\w[-\w ]*$/.test(expose_as)) {
    reportFault(at, "expose as can contain only letters, digits, '-', '_' and spaces", position);
  }
  if (paths.length === 0) reportFault(at, "paths can't be blank", position);
  if (paths.some((path) => path.includes('*'))) {
    reportFault(at, "paths can't contain '*' when used with 'expose_as'", position);
  }
  return expose_as;
};

export const parseArtifacts = (at: At, node: Node | undefined): Artifacts | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind !== 'hash') {
    reportFault(at, 'config should be a hash', node.position);
    return null;
  }
  checkKeys(at, node, artifactKeys);
  const paths = stringsAt(at, node, 'paths') ?? [];
  const isPublic = booleanAt(at, node, 'public');
  const access = oneOfAt(at, node, 'access', { words: accessLevels });
  return {
    name: textAt(at, node, 'name'),
    untracked: booleanAt(at, node, 'untracked') ?? false,
    paths,
    exclude: stringsAt(at, node, 'exclude') ?? [],
    when: oneOfAt(at, node, 'when', { words: whens, old: legacyWhenText }),
    expire_in: parseExpiry(at, node),
    expose_as: parseExposeAs(at, node, paths),
    access: access ?? (isPublic === null ? null : isPublic ? 'all' : 'developer'),
    ...parseReports(inner(at, 'reports'), getEntry(node, 'reports')),
  };
};
