/** Renders the settings that enable features of a project. */
import type { Feature } from '../../../../core/access/visible.ts';
import { selectControl } from './controls.ts';
import type { Section } from './settings_section.ts';

type Texts = readonly [label: string, hint: string];

const featureTexts: { [F in Feature]: Texts } = {
  issues_access_level: ['Issues', 'Plan and discuss work.'],
  repository_access_level: ['Repository', 'Read and change the code.'],
  merge_requests_access_level: ['Merge requests', 'Review changes before they are merged.'],
  forking_access_level: ['Forks', 'Copy the project into another namespace.'],
  builds_access_level: ['Pipelines', 'Build, test and deploy.'],
  releases_access_level: ['Releases', 'Publish versions with notes and files.'],
  environments_access_level: ['Environments', 'Track deployments.'],
  snippets_access_level: ['Snippets', 'Share pieces of code.'],
  container_registry_access_level: ['Container registry', 'Store images.'],
};

const accessOptions = [
  ['enabled', 'Everyone with access'],
  ['private', 'Members only'],
  ['disabled', 'Disabled'],
] as const;

const features = Object.keys(featureTexts) as Feature[];

export const featureSection: Section = {
  key: 'features',
  title: 'Features',
  intro: 'Disabled features are hidden. Their content is kept.',
  names: features,
  saved: 'The feature settings were saved.',
  isPaired: true,
  fields: ({ visit, text, problems }) => {
    const hasRegistry = visit.call.platform.config.registry !== null;
    const shown = features.filter((name) => hasRegistry || name !== 'container_registry_access_level');
    return shown.map((name) => {
      const [label, hint] = featureTexts[name];
      return selectControl({ name, label, hint, value: text(name), options: accessOptions, problems });
    });
  },
};
