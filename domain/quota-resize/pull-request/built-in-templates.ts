/** Headroom's own texts for pull requests, as Handlebars templates; an operator may replace each of them. */

/**
 * The description in GitHub's Markdown: what changes and why, what happens next, what people can do, and folded
 * details. Its names are defined in body.ts.
 */
const BODY = `## Quota Resize Recommendation

Headroom proposes to raise quota{{#if severalOwn}}s{{/if}} {{#each quotas}}{{#unless @first}}, {{/unless}}{{code this}}{{/each}} of namespace {{code namespace}} in cluster {{code cluster}}.

| {{#if several}}Quota | {{/if}}Resource | Used | Current | Proposed | Why |
|{{#if several}}---|{{/if}}---|---|---|---|---|
{{#each changes}}
| {{#if @root.several}}{{code quota}} | {{/if}}{{code resource}} | {{code used}} | {{code from}} | **{{code to}}** | {{reason}} |
{{/each}}

{{#if joined}}
This pull request is shared, because these limits are in the same file: it also raises {{#each joined}}{{#unless @first}}, {{/unless}}{{code quota}}{{/each}}. Each quota has a commit and an approval of its own.

{{/if}}
{{#each notProved}}
**Not proved:** it is not proved that this changes nothing but the limits of quota {{code quota}}, so a person merges it: {{why}}

{{/each}}
{{#if approval}}
**An approval is needed** before Headroom merges this: {{approval}}

{{else}}
{{#if approvedBy}}
Approved by {{approvedBy}}.

{{/if}}
{{/if}}
{{#each joined}}
{{#if approval}}
**An approval is needed for {{code quota}}** before Headroom merges this (\`headroom approve {{commandArgument}}\`): {{approval}}

{{/if}}
{{/each}}
{{#if evidence}}
### Evidence

{{#each evidence}}
- {{this}}
{{/each}}
{{#if moreEvidence}}
- And {{moreEvidence}} more.
{{/if}}

{{/if}}
{{#if notes}}
### What the policy changed

{{#each notes}}
- {{this}}
{{/each}}

{{/if}}
{{#if leftAlone}}
### Already in Git

These limits stay as they are, because Git holds enough already:

{{#each leftAlone}}
- {{#if @root.several}}{{code quota}} {{/if}}{{code resource}} is {{code value}}.
{{/each}}

{{/if}}
{{#if leftOut}}
### Not in this pull request

The same workloads need more of these quotas too:

{{#each leftOut}}
- Quota {{code quota}}: {{why}}
{{/each}}

{{/if}}
### What happens next

{{#each next}}
- {{this}}
{{/each}}

### What you can do

| To | Do |
|---|---|
{{#if approval}}
| approve this | run \`headroom approve {{commandArgument}}\`, or send the update \`approve\` to the workflow in the Temporal UI |
{{/if}}
{{#if joined}}
| reject all of it | close this pull request |
| reject one quota | run \`headroom reject {{commandArgument}} --reason "…"\`, or the same for another: the rest is proposed without it |
{{else}}
| reject this | close this pull request, or run \`headroom reject {{commandArgument}} --reason "…"\` |
{{/if}}
| take this over | push a commit to this branch: Headroom then neither changes nor merges it |
| pause this quota | run \`headroom pause {{commandArgument}}\`, and later \`headroom resume {{commandArgument}}\` |
| see the whole decision | run \`headroom explain quota-resize {{commandArgument}}\` |
| opt out | set the annotation \`resizer.io/enabled: "false"\` on namespace {{code namespace}}: Headroom leaves its quotas alone until you remove it |

<details><summary>How this was decided</summary>

- Decided at {{decidedAt}} by the workflow {{#if workflowUrl}}[\`{{workflowId}}\`]({{workflowUrl}}){{else}}\`{{workflowId}}\`{{/if}}.
- Changed file{{#if severalFiles}}s{{/if}}: {{#each files}}{{#unless @first}}, {{/unless}}{{code this}}{{/each}}
{{#each found}}
- Quota {{code quota}} is {{how}}.
{{/each}}

| Setting | Value | Set by |
|---|---|---|
{{#each policy}}
| \`{{name}}\` | {{value}} | {{from}} |
{{/each}}

</details>
`;

export const builtInTemplates = {
  title: 'Raise quota {{target}}: {{summary}}',
  body: BODY,
  commit: [
    'chore(quota): raise {{target}}: {{summary}}',
    '',
    '{{#each changes}}',
    '{{#if @root.several}}{{quota}} {{/if}}{{resource}}: {{from}} → {{to}}. {{reason}}',
    '{{/each}}',
  ].join('\n'),
  branch: 'headroom/{{cluster}}/{{namespace}}/{{quota}}/{{id}}',
} as const;
