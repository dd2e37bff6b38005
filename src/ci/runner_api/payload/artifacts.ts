/** Builds the list of artifacts that a runner uploads. Pure. */
import type { Artifacts } from '../../ci_file/config_types.ts';

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

/** File name and format of each type of report. */
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

const toFormat = (kind: string): [string, Format] =>
  reports[kind] ?? [`gl-${kind.replaceAll('_', '-')}-report.json`, 'raw'];

const toArchive = (artifacts: Artifacts): PayloadArtifact[] => {
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

const toReport = (artifacts: Artifacts, kind: string, paths: string[]): PayloadArtifact[] => {
  if (paths.length === 0) return [];
  const [name, artifact_format] = toFormat(kind);
  const { expire_in } = artifacts;
  const life = expire_in === null ? {} : { expire_in };
  return [{ name, untracked: false, paths, when: 'always', ...life, artifact_type: kind, artifact_format }];
};

/**
 * Lists one entry for the archive and one for each type of report; null if there are none.
 * @param uploadsReports false for runners before 11.2, which support only one archive and fail a job with more
 */
export const buildPayloadArtifacts = (
  artifacts: Artifacts | null,
  uploadsReports: boolean,
): PayloadArtifact[] | null => {
  if (artifacts === null) return null;
  const reported = uploadsReports ? Object.entries(artifacts.reports) : [];
  const entries = [
    ...toArchive(artifacts),
    ...reported.flatMap(([kind, paths]) => toReport(artifacts, kind, paths)),
  ];
  return entries.length === 0 ? null : entries;
};
