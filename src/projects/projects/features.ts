/** The features of a project: which exist, and how access levels are set and shown. */
import type { Static } from 'typebox';
import type { Config } from '../../platform/config/fields.ts';
import type { FeatureLevel } from '../../platform/db/schema/column_types.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { type Feature, hasFeature } from '../../core/access/visible.ts';
import { bool, boolean, object, oneOf, optional, string, unavailable } from '../../platform/http/schema.ts';
import type { ProjectRow } from './rows.ts';

/** Each feature with the older parameter that switches it; null if it has none. */
const switches = {
  issues_access_level: 'issues_enabled',
  merge_requests_access_level: 'merge_requests_enabled',
  builds_access_level: 'jobs_enabled',
  repository_access_level: null,
  snippets_access_level: 'snippets_enabled',
  forking_access_level: null,
  releases_access_level: null,
  environments_access_level: null,
  container_registry_access_level: 'container_registry_enabled',
} as const satisfies { [F in Feature]: string | null };

type Switch = Exclude<(typeof switches)[Feature], null>;

const features = Object.keys(switches) as Feature[];
const switched = features.flatMap((feature): [Feature, Switch][] => {
  const name = switches[feature];
  return name === null ? [] : [[feature, name]];
});

/** Access levels of unsupported features: always disabled. */
const missingLevels = [
  'wiki_access_level',
  'pages_access_level',
  'analytics_access_level',
  'feature_flags_access_level',
  'infrastructure_access_level',
  'monitor_access_level',
  'security_and_compliance_access_level',
  'requirements_access_level',
  'package_registry_access_level',
  'model_experiments_access_level',
  'model_registry_access_level',
] as const;

/** Switches of unsupported features: always false. */
const missingSwitches = ['wiki_enabled', 'lfs_enabled', 'packages_enabled', 'service_desk_enabled'] as const;

const mapNames = <N extends string, T>(names: readonly N[], value: T): { [K in N]: T } =>
  Object.fromEntries(names.map((name) => [name, value])) as { [K in N]: T };

const switchNames = switched.map(([, name]) => name);

export const featureParams = {
  ...mapNames(switchNames, optional(boolean())),
  ...mapNames(features, optional(oneOf(['disabled', 'private', 'enabled']))),
  ...mapNames([...missingSwitches, ...missingLevels], unavailable()),
};

const shape = object(featureParams);
type Params = Partial<Static<typeof shape>>;

export type FeatureColumns = { [F in Feature]?: FeatureLevel };

/** Returns the access levels that the parameters set. A level takes precedence over a switch. */
export const featureColumns = (params: Params): FeatureColumns => {
  const bySwitch = switched.flatMap(([feature, name]): [Feature, FeatureLevel][] =>
    params[name] === undefined ? [] : [[feature, params[name] ? 'enabled' : 'disabled']],
  );
  const byLevel = features.flatMap((feature): [Feature, FeatureLevel][] =>
    params[feature] === undefined ? [] : [[feature, params[feature]]],
  );
  return Object.fromEntries([...bySwitch, ...byLevel]);
};

export const featureFields = {
  ...mapNames([...switchNames, ...missingSwitches], optional(bool)),
  ...mapNames([...features, ...missingLevels], optional(string)),
};

const missing = { ...mapNames(missingSwitches, false), ...mapNames(missingLevels, 'disabled') };

/** Without a configured registry, a project has none, whatever its level. */
const effectiveLevel = (row: ProjectRow, feature: Feature, { registry }: Pick<Config, 'registry'>) =>
  feature === 'container_registry_access_level' && registry === null ? 'disabled' : row[feature];

/** Names the parameters that have no effect on this service. */
export const featuresWithoutEffect = ({ registry }: Pick<Config, 'registry'>): readonly string[] => [
  'request_access_enabled', // kept and shown
  ...(registry === null ? ['container_registry_access_level', 'container_registry_enabled'] : []),
];

/** Shows access levels as stored, and switches as they apply to the viewer. */
export const featuresJson = (row: ProjectRow, viewer: Viewer, config: Pick<Config, 'registry'>) => {
  const levels = Object.fromEntries(
    features.map((feature) => [feature, effectiveLevel(row, feature, config)]),
  ) as { [F in Feature]: FeatureLevel };
  const effective = { ...row, ...levels };
  const flags = switched.map(([feature, name]) => [name, hasFeature(viewer, effective, feature)] as const);
  return { ...Object.fromEntries(flags), ...levels, ...missing };
};
