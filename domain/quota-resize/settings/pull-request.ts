import { explained, splitList } from '../../kernel/settings/forms.ts';
import type { Settings } from '../../kernel/settings/setting.ts';
import { templateChecks } from '../pull-request/pull-request-texts.ts';

/** A template that was tested with samples, so that an invalid one stops the process at start. */
function template(check: (written: string) => void) {
  return explained((written) => {
    check(written);
    return written;
  });
}

export const pullRequestSettings = {
  titleTemplate: {
    type: template(templateChecks.title),
    expected: 'a Handlebars template such as Raise quota {{target}}: {{summary}}',
    description: 'The title of pull requests. docs/pull-requests.md has the names that templates can use.',
    env: 'PULL_REQUEST_TITLE_TEMPLATE',
    flag: '--pull-request-title-template',
  },
  bodyTemplate: {
    type: template(templateChecks.body),
    expected: 'a Handlebars template in Markdown',
    description: "The description of pull requests, instead of Headroom's own.",
    env: 'PULL_REQUEST_BODY_TEMPLATE',
    flag: '--pull-request-body-template',
  },
  commitTemplate: {
    type: template(templateChecks.commit),
    expected: 'a Handlebars template such as chore(quota): raise {{target}}: {{summary}}',
    description: 'The message of commits; the trailers that Headroom finds its commits by come after it.',
    env: 'PULL_REQUEST_COMMIT_TEMPLATE',
    flag: '--pull-request-commit-template',
  },
  branchTemplate: {
    type: template(templateChecks.branch),
    expected: 'a Handlebars template with {{id}} in it, such as headroom/{{cluster}}/{{namespace}}/{{quota}}/{{id}}',
    description: 'The name of branches.',
    env: 'PULL_REQUEST_BRANCH_TEMPLATE',
    flag: '--pull-request-branch-template',
  },
  labels: {
    type: explained((written) => {
      const labels = splitList(written);
      for (const label of labels) templateChecks.label(label);
      return labels;
    }),
    expected: 'labels separated by commas, each a Handlebars template, such as quota,cluster/{{cluster}}',
    description: 'The labels of pull requests, one more request to GitHub each time.',
    env: 'PULL_REQUEST_LABELS',
    flag: '--pull-request-labels',
    isList: true,
  },
} as const satisfies Settings;
