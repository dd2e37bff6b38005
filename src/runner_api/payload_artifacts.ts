/** What a runner is told to upload. Pure. */
import type { Artifacts } from '../ci_file/plan_types.ts';

type Format = 'zip' | 'gzip' | 'raw';

export type PayloadArtifact = {
  name?: string;
  untracked: boolean;
  paths: string[];
  exclude?: string[];
  when: string;
  expire_in?: string;
  artifact_type: string;
  artifact_format: Format;
};

/** Under which name a report is uploaded, and how it is packed. */
const reports: Record<string, [string, Format]> = {
  junit: ['junit.xml', 'gzip'],
  cobertura: ['cobertura-coverage.xml', 'gzip'],
  jacoco: ['jacoco-coverage.xml', 'gzip'],
  dotenv: ['.env', 'gzip'],
  codequality: ['gl-code-quality-report.json', 'raw'],
  terraform: ['tfplan.json', 'raw'],
  metrics: ['metrics.txt', 'gzip'],
  lsif: ['lsif.json', 'zip'],
  cyclonedx: ['gl-sbom.cdx.json', 'gzip'],
  annotations: ['gl-annotations.json', 'gzip'],
  requirements: ['requirements.json', 'gzip'],
  requirements_v2: ['requirements_v2.json', 'gzip'],
  repository_xray: ['gl-repository-xray.json', 'gzip'],
};

const formOf = (kind: string): [string, Format] =>
  reports[kind] ?? [`gl-${kind.replaceAll('_', '-')}-report.json`, 'raw'];

const archiveOf = (artifacts: Artifacts): PayloadArtifact[] => {
  const { name, untracked, paths, exclude, when, expire_in } = artifacts;
  if (!untracked && paths.length === 0) return [];
  return [
    {
      ...(name !== null && { name }),
      untracked,
      paths,
      ...(exclude.length > 0 && { exclude }),
      when: when ?? 'on_success',
      ...(expire_in !== null && { expire_in }),
      artifact_type: 'archive',
      artifact_format: 'zip',
    },
  ];
};

const reportOf = (artifacts: Artifacts, kind: string, paths: string[]): PayloadArtifact[] => {
  if (paths.length === 0) return [];
  const [name, artifact_format] = formOf(kind);
  const { expire_in } = artifacts;
  const life = expire_in === null ? {} : { expire_in };
  return [{ name, untracked: false, paths, when: 'always', ...life, artifact_type: kind, artifact_format }];
};

/**
 * Lists one entry for the archive and one for each kind of report; null where there are none.
 * @param uploadsReports false for runners before 11.2, which know one archive and fail a job that names more
 */
export const payloadArtifacts = (
  artifacts: Artifacts | null,
  uploadsReports: boolean,
): PayloadArtifact[] | null => {
  if (artifacts === null) return null;
  const reported = uploadsReports ? Object.entries(artifacts.reports) : [];
  const entries = [
    ...archiveOf(artifacts),
    ...reported.flatMap(([kind, paths]) => reportOf(artifacts, kind, paths)),
  ];
  return entries.length === 0 ? null : entries;
};
