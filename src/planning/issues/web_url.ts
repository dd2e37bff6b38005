export const issueUrl = (baseUrl: string, projectPath: string, iid: number): string =>
  `${baseUrl}/${projectPath}/issues/${iid}`;
