/** Content of the pages of help, as the service serves it and as the build writes it to files. */
import { withSideNav, type NavLink } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html, trusted } from '../../parts/html.ts';
import { type Topic, topicGroups } from './topics.ts';

export const aboutHelp = 'How to install, use and run Gantry.';

const toPath = ({ name }: Topic): string => `/help/${name}`;

/** Lists the sections of a topic, from its rendered headings. */
const sectionList = (content: Html): Html | undefined => {
  const sections = [...content.text.matchAll(/<h2[^>]*? id="([^"]+)"[^>]*>(.*?)<\/h2>/gs)];
  if (sections.length === 0) return undefined;
  return html`<ul>${sections.map(
    ([
      ,
      id = '',
      title = '',
    ]) => html`<li><a href="#${id}">${trusted(title.replaceAll(/<[^>]*>/g, ''))}</a></li>
`,
  )}</ul>`;
};

const topicLinks = (here: Topic, content: Html): NavLink[] => [
  { path: '/help', name: 'Help', isHere: false },
  ...topicGroups
    .flatMap(({ topics }) => topics)
    .map((topic) => {
      const isHere = topic === here;
      return {
        path: toPath(topic),
        name: topic.title,
        isHere,
        contents: isHere ? sectionList(content) : undefined,
      };
    }),
];

const groupPart = ({ title, topics }: (typeof topicGroups)[number]): Html => html`<h2>${title}</h2>
<dl class="topics">${topics.map(
  (topic) => html`<div><dt><a href="${toPath(topic)}">${topic.title}</a></dt><dd>${topic.about}</dd></div>
`,
)}</dl>
`;

const neighbours = (topic: Topic): Html => {
  const allTopics = topicGroups.flatMap(({ topics: allTopics }) => allTopics);
  const at = allTopics.indexOf(topic);
  const [previous, next] = [allTopics[at - 1], allTopics[at + 1]];
  return html`<nav class="neighbours" aria-label="Neighbouring topics">${
    previous !== undefined && html`<a rel="prev" href="${toPath(previous)}">Previous: ${previous.title}</a>`
  } ${next !== undefined && html`<a rel="next" href="${toPath(next)}">Next: ${next.title}</a>`}</nav>`;
};

/** @param content of the topic's text, rendered */
export const topicBody = (topic: Topic, content: Html): Html =>
  withSideNav(
    'Help',
    topicLinks(topic, content),
    html`<h1>${topic.title}</h1>
${content}${neighbours(topic)}`,
  );

/** Lists all topics. */
export const startBody = (lead: Html): Html => html`<h1>Help</h1>
<p>${lead}</p>
${topicGroups.map(groupPart)}`;
