import type { LoadedPipeline } from '../../../../../ci/pipelines/find.ts';
import { projectPagePath } from '../../../parts/frame/project_layout.ts';
import { tabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import type { Html } from '../../../parts/html.ts';

/** Title of the pages of one pipeline. */
export const titleOf = ({ pipeline: { id, name } }: LoadedPipeline): string =>
  `Pipeline #${id}${name === null ? '' : `: ${name}`}`;

/** Renders the tabs of a pipeline whose jobs have test reports. */
export const viewTabs = ({ project, pipeline }: LoadedPipeline, here: 'jobs' | 'tests'): Html => {
  const path = projectPagePath(project, `pipelines/${pipeline.id}`);
  return tabs('Views of the pipeline', [
    { path, name: 'Jobs', isHere: here === 'jobs' },
    { path: `${path}/test_report`, name: 'Tests', isHere: here === 'tests' },
  ]);
};
