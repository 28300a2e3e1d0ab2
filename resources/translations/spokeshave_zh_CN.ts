<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>BaselinePage</name>
        <message>
            <source>Baseline</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measure a baseline</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What each later cut costs is told against this: perplexity on a text, and speed.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measure perplexity and speed after opening</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Held-out text that comes with Spokeshave</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Shakespeare that the starter models haven't seen. Good for comparing variants of any English model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>As it's stored</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The precision in which the copy in the workspace is kept</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>4,000 tokens: quick, less sure</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>20,000 tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>100,000 tokens: slow, surer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Name</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keep the weights as</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Device</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Read at most</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ComboEditor</name>
        <message>
            <source>Automatic</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>CompressWizard</name>
        <message>
            <source>Start, and configure another</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prune</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Quantize</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Distil</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Finetune</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Started: {names}. Change a setting for another.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name}, from {source}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Controls</name>
        <message>
            <source>The model whose text it is. Whatever the draft guesses, the target decides.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Who guesses the next tokens: a small fast model with the same tokens, or a look-up of what followed the same words before.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Draft length: how many tokens are guessed before the target checks them all in one call. 0 drafts nothing.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>How freely to sample. 0 is greedy: always the likeliest token. 1 samples from the model's own distribution.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>greedy</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Sample from the k likeliest tokens only. 'all' leaves none out.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>all</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Sample from the fewest tokens that together have this probability. 1 leaves none out.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The same seed with the same settings gives the same text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stop after so many new tokens.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Where both models run.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Best device</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompt: the text to go on from</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The text to go on from. Ctrl+Enter runs.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Race</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Afterwards, decode once more without the draft, with the same seed. That's what the speed-up is measured against.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Run</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode from the prompt (Ctrl+Enter)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pause</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Step</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stop</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>End here and keep what there is</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Target</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Draft</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Length γ</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Temp.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Top-k</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Top-p</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Seed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It has no tokenizer.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>None (plain)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>N-gram lookup</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open a model first.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No model here can generate text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} can't be the target. {why}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} can't draft for this target. {why}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The prompt is empty. Write a few words to go on from.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A run is under way.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Resume</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Go on</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Wait after this round</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Start, and stop after one round</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Take one round, then wait</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>CurvesView</name>
        <message>
            <source>No curves</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A job that trains draws its loss here, as it falls.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>DataPage</name>
        <message>
            <source>Text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Which text?</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Training text that comes with Spokeshave</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Shakespeare, {size}. Right for the starter models; for others take text of the kind that they'll meet.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The method runs the model over some text, to see which weights matter there.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model is trained on it. It should be text like that which it will meet.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>DecodeView</name>
        <message>
            <source>A bar for each round: how many of its guesses were kept.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tokens over time, with the draft and without.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Race: tokens over time</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Acceptance rate</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Accepted / tested: of the guesses that the target looked at, how many it kept.
</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Guesses behind a dropped one aren't looked at, and don't count.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tokens per target call</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>1 + accepted / rounds: the target is called once a round, and always adds one token itself.
Plain decoding has 1.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Speed-up</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measured: tokens per second with the draft, divided by those without (the race; same seed, prefill excluded).
</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Possible: what it would be if only the calls of the two models took time.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Throughput</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>New tokens per second, from the first round on; reading the prompt isn't counted.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Token flow</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Runs</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Recorded runs, to look at and replay</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Details</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ending after this round…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cancelling…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Loading the models…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode: {draft} for {target}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode: {target}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Paused. Step takes one more round.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Loading {name}…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decoding once more without the draft, for the race…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Accepted draft tokens per round</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing was drafted in this run, so there's nothing to accept.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>run to see</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>needs a draft</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>run with Race to measure</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>nothing was drafted</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{accepted} of {tested} tested</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>always, without a draft</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>at most {most} at γ = {gamma}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>measured · possible {times}{x}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>measured</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>there's no draft to compare</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>the race comes after this</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>tick Race and run again</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>plain {n} tok/s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} tokens in {time}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>plain {none}: run the race</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} tok/s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing is highlighted since nothing was drafted: the target wrote every token itself. Choose a draft and run again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing is highlighted since the draft had nothing to propose in any of the {n} rounds.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It ended by itself: the target wrote its end-of-text token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It ended at a stop string.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>You stopped it here.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decoding failed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No model to decode with yet</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open a model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open one and compress it: the small copy can then draft for the large one.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Watch a guess being checked</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Run</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A small model guesses tokens, the large one checks them in one call.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Each token appears here with its fate and the reason.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No run is recorded yet</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open a recording…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Use this run's settings</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{draft} for {target}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{target}, plain</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>greedy</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>temp. {t}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Recorded: {run}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open a recording</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Recorded runs (*.jsonl)</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>DeviceChoice</name>
        <message>
            <source>The best one there is</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>CPU</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{title}, {free} free</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>DropZone</name>
        <message>
            <source>Drop a model's folder or a .gguf file here, or choose it:</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Folder …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>GGUF file …</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ErrorDialog</name>
        <message>
            <source>That didn't work</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show detail</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy report</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Close</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Hide detail</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copied</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Estimate</name>
        <message>
            <source>Estimated size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Bytes of the weights, scales included, times eight, over the parameters of the original</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Working it out</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>unknown</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{bits} bits a weight, all told</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>about {memory} of memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>about {time}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>time unknown</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Takes {what}.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>EvaluateDialog</name>
        <message>
            <source>Measure</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measure {name}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ExportReport</name>
        <message>
            <source>Exported {name}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Exported</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Exported and checked</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Checks</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>passed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>not passed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show folder</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Try it</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Close</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size on disk</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Largest difference in a logit</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Same first choice</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{share} of {n} tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Took</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{value} of {limit}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{value}, {limit} allowed</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ExportWizard</name>
        <message>
            <source>Export to ONNX</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Export</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Export {name} to ONNX</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>FileField</name>
        <message>
            <source>Choose …</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>FloatBox</name>
        <message>
            <source>automatic</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>FolderPage</name>
        <message>
            <source>Folder</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Where to?</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The folder appears only when the export is whole and checked.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a folder</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Replace what's in the folder</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What will be written</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Form</name>
        <message>
            <source>More settings</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{knob}: {problem}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This variant is gone.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no such file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>must be less than {limit}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>must be at most {limit}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>must be more than {limit}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>must be at least {limit}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>choose a variant.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>choose a file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>choose one.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>fill this in.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It's the model itself.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It's another kind of model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Its tokenizer has other tokens.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Fewer settings</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Inspector</name>
        <message>
            <source>Export…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Use as draft</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Evaluate</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing selected</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a variant in the tree or a point in the plot to see what it's made of.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It doesn't generate text, so it can't draft.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measurements</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Not measured yet. Evaluate gives it its figures.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Lineage</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Notes</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Recipe</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size on disk</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode speed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Weights that aren't zero, against all of the original's</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Non-zero weights</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy the recipe</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>stored as</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>weights</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>bytes</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} of them not zero</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Effective bits a weight</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Non-zero</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tied, stored once</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>On disk</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Resident memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Peak memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Conditions</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Embedding</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Attention</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>MLP</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Norms</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Head</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Other</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Scales</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Masks</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tokenizer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Configuration</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>file</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>yes</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>no</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>IntEditor</name>
        <message>
            <source>automatic</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>JobPanel</name>
        <message>
            <source>Jobs</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Take finished jobs off the list</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No jobs</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What you start appears here, with its progress and its log.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Log</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Curves</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Least level shown</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>All levels</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Information</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Warnings</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Errors</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy the log</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} running</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} queued</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show the variant</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Explain the failure…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Restart with other settings…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Take off the list</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cancel</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Exported to {folder}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Done</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>JobRow</name>
        <message>
            <source>Restart with other settings</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cancel</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Take off the list</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Starting</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>loss {value}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Failed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Waits for its turn</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cancelled; nothing was kept</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cancelling…</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Legend</name>
        <message>
            <source>Pareto front</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Other conditions</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>LegendButton</name>
        <message>
            <source>Click to dim the others.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show only: {kind}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>LibraryModel</name>
        <message>
            <source>Variant</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>MB</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Perplexity on the evaluation text (lower is better); for encoders the cosine to the original's output.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Score</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cosine</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Acc. %</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Perpl.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>waiting for its turn</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This variant is being made: {stage}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measured on another text or under other conditions than most, so not comparable with them.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>LibraryView</name>
        <message>
            <source>Models</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Filter variants</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Variants</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No variant matches “{words}”.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Damaged records left out: {n}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>&amp;Decode with it</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Use as dra&amp;ft</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>&amp;Prune…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>&amp;Quantize…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>D&amp;istil…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Fine-&amp;tune…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>&amp;Evaluate…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>E&amp;xport to ONNX…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>&amp;Rename</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show &amp;folder</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>&amp;Copy recipe</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>De&amp;lete…</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>LogView</name>
        <message>
            <source>Log</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>MeasurePage</name>
        <message>
            <source>Measure</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measure a variant</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Figures taken on the same text, with the same context and as many tokens, can be compared.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Hold Ctrl to choose several</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Held-out text that comes with Spokeshave</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>KL divergence and agreement are measured against it</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>automatic</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tokens that the model sees at once; automatic: 512, or the model's own where that is less</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>More tokens take longer and make the interval narrower</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measure speed too</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Compare with</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Device</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Context</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Read at most, tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>MethodPage</name>
        <message>
            <source>Method</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a method</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pruning takes weights away. What's left computes with fewer of them, and a little less exactly.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Quantization stores each weight in fewer bits. Eight bits are nearly free; below four, accuracy falls fast.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A smaller model, the student, learns to predict what the larger one, the teacher, predicts.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Training a little more on text wins back accuracy that a cut has cost. Zeros stay zero.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The worker is still starting. The methods appear here in a few seconds.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>OpenModelWizard</name>
        <message>
            <source>Open a model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open {name}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>PartsBar</name>
        <message>
            <source>Embedding</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Attention</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>MLP</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Norms</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Output head</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Other</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ReplayBar</name>
        <message>
            <source>Rounds shown</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Drag through the rounds of this run</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Replay speed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Replay speed: {times}1 is as fast as it was</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pause the replay</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Replay this run</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>round {done} of {of} · {seconds}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} s</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ReviewPage</name>
        <message>
            <source>Review</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ready to start</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The work goes on in the background; the window stays free.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The same seed gives the same weights on the same machine</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Name</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Device</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Seed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measure it afterwards: perplexity, difference from the original, speed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Without a measurement the variant has no place on the plot</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>On the held-out text that comes with Spokeshave</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Recipe</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>spokeshave-cli run makes the same variant from it</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copied</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ready to export</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It's called done only when onnxruntime gives what torch gives.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Device for the comparison</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Folder</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>about {size}, an estimate; {now} now</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Checks</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>loads; logits against torch; the same greedy tokens; every data byte referenced</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>loads; outputs against torch; padded batches; every data byte referenced</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The weights are written as float32, with the values that quantization left: exact, but not small.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What's in the folder now is replaced once the export is whole.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ready to open</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>the held-out text that comes with Spokeshave</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>perplexity on {text}, at most {n} tokens; speed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>nothing, so it has no place on the plot yet</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>as it's stored</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Source</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>unknown</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Weights</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measured</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Workspace</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>SourcePage</name>
        <message>
            <source>Source</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Which model?</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A new variant is made from it. The one that you choose stays as it is.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>ONNX is a format that many programs run, without Python and without torch.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Where is the model?</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A copy is made in the workspace. What you open is never changed.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>/path/to/model  or  organisation/model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Path, or id on the Hugging Face Hub</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Shakespeare 7M</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A small language model that comes with Spokeshave.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Shakespeare 1M</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A smaller one with the same tokens: a draft for the other.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Or begin with a starter model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A folder with config.json and .safetensors files, a .gguf file, or an id such as {example}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A folder on this machine.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A GGUF file. Its weights are unpacked into an ordinary model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>An id on the Hub. It's looked up when you go on; nothing is downloaded yet.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is nothing at this path.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This file isn't a model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose the model's folder</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a GGUF file</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>GGUF files (*.gguf);;All files (*)</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Steps</name>
        <message>
            <source>Step {n} of {total}: {name}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>TextChoice</name>
        <message>
            <source>A text file of my own</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Text files (*.txt *.md *.text);;All files (*)</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>TokenCard</name>
        <message>
            <source>Why this token</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>TokenFlow</name>
        <message>
            <source>Token flow</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Arrow keys move from token to token, Enter keeps a token's card open, Ctrl+C copies the text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy this token</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Explain this token</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>TradeoffPlot</name>
        <message>
            <source>Trade-off plot</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size on disk (MB, log scale)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Parameters (millions, log scale)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Resident memory (MB, log scale)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode speed (tokens/s, log scale; right is better)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{title} ({unit}log scale, up is better)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>best: {name}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>nothing fits</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source> and {n} more</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Indistinguishable from {names}{more}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measured under other conditions</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size, estimated</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Being made</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>TradeoffView</name>
        <message>
            <source>Size on disk</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Parameters</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Resident memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode speed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What the horizontal axis shows</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What the vertical axis shows</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A line that you drag: the best variant within it is marked</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Budget line</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No budget</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Budget across</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Budget upwards</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>against</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show everything again (double-click an empty place)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No models yet</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open a model to see how small it can get.
Drop a folder or a .gguf file here.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open a model…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open the starter models</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Evaluate…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing to plot on these axes</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No variant has both figures: {y} and {x}. Measuring one gives the plot its first point.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Waiting for its turn</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Its first point appears here when it has been measured.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Not shown, for want of a figure ({what}): {names}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Hollow points were measured under other conditions: they can't be compared with the rest.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>TryExportDialog</name>
        <message>
            <source>Try the export</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Generate with the exported files</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>onnxruntime runs {folder}; torch has no part in it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Generate</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ctrl+Enter</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What the model writes appears here, token by token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Generated text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Close</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stopping …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Loading …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Try {folder}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stop</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Write a prompt first.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cancelled.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} tokens/s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measured by onnxruntime while it wrote; the prompt isn't counted</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} tokens, by onnxruntime alone.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>VariantEditor</name>
        <message>
            <source>None chosen</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a variant</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>WhatPage</name>
        <message>
            <source>What it is</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Read from headers and configuration; no weight has been loaded yet.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Parameters by component</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Run the code that comes with this model. I trust whoever made it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Such code can do on this machine whatever you can do</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The worker is still starting; it reads the model in a few seconds.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Asking the Hub …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading the headers …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Opening it will download {size} from the Hub.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>unknown</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>generates text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>encodes text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>classifies</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>yes</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>no</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} layers</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>width {n}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Architecture</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Task</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Parameters</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size on disk</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stored as</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Context</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Shape</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Vocabulary</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tied embedding</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tokenizer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>missing</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{heads} heads in {groups} groups</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{heads} heads</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>About {needed} to hold it in float32; {free} free on this machine.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Wizard</name>
        <message>
            <source>Back</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Next</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Start</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cancel</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Step {n} of {total}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>_CurveChart</name>
        <message>
            <source>Step</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>step {step}: {values}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>_Delegate</name>
        <message>
            <source>Rename</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>acceptance</name>
        <message>
            <source>Round</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Accepted</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Accepted draft tokens per round</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Accepted draft tokens per round (γ = {gamma})</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Seconds</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Race: tokens over time</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} tok/s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>plain</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>speculative</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>core</name>
        <message>
            <source>It doesn't generate text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} can't be read.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Check that it's still there.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} isn't a recorded run: it holds no text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a .jsonl file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} isn't a recorded run: line {line} can't be read.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a file that the decode lab or 'generate --rounds' wrote.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} holds no rounds.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} was recorded by a later Spokeshave (format {theirs}, this one knows {ours}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Update Spokeshave.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A variant needs a name.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Type one.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is a folder, not a text file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The text file {path} doesn't exist.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Check the path.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} isn't UTF-8 text (byte {position} can't be decoded).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a plain text file, or save it again as UTF-8.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} isn't text: it holds zero bytes.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a plain text file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is empty, so there is nothing to read.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a file with text in it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This model has no tokenizer, so text can't be turned into tokens.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Put the tokenizer's files into the model's folder and import it again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} gives no tokens.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A context of {context} leaves nothing to predict.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose at least 2.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The text has {tokens} tokens, fewer than one context of {context}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a longer text or a smaller context.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} ({architecture}) doesn't keep its past as a decoder's key-value cache, so it can't be decoded here.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a decoder-only transformer.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} remembers only the last {window} tokens (a sliding window), so drafted tokens can't be taken back exactly.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode it plainly, keep the text below {window} tokens, or choose a model with full attention.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} has layers whose state can't be taken back ({layer}), so it can't draft or check drafts.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode it plainly, or choose a model with attention in every layer.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The prompt is empty, and this model has no token to begin a text with.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Write a prompt.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The prompt has {tokens} tokens, and {name} reads at most {context}, so there's no room to write.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Shorten the prompt.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading the prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decoding</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Preparing</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} has no tokenizer, so a prompt can't be turned into tokens.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No draft model was chosen.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a draft, or draft from the text's own repetitions.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{draft} has other tokens than {target}, so it can't draft for it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a draft with the same tokenizer, such as a variant of the same model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} must be {wanted}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Change it and decode again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No token is left to choose from: every one is banned.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ban fewer tokens, or allow the text to end earlier.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The {who} model computed something that isn't a number, so it has no next token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode in float32; if that doesn't help, this variant's weights are damaged.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There wasn't enough memory for this.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Close other programs, or choose a smaller context, batch or model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The disk is full, so nothing was saved.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Free some space, or choose a workspace on another disk, and start the job again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no permission to use {path}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a folder that you may write to.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} doesn't exist.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Something went wrong that Spokeshave didn't foresee ({what}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The detail says where; please report it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The encoder has no tokenizer, so nothing can be embedded.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Put tokenizer.json beside the model and import it again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The text has no sentences to embed.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Comparing embeddings</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The encoder's embeddings aren't numbers (NaN or infinite).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Its weights are damaged or overflow in this precision: measure it in float32, or make the variant again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The text has no sentence of at least {shortest} characters.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a longer text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The text has {tokens} token(s), and a score needs at least two.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measuring perplexity</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model holds {longest} tokens, fewer than a context of {context}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a context of at most {longest}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model's scores aren't numbers (NaN or infinite), so there is no perplexity.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measuring speed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Speed needs at least one token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose at least 1 token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model holds {longest} tokens, fewer than {prefill} of prompt and {decode} to decode.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose fewer tokens.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is a file, and an export is a folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another name.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} isn't empty, and what is in it isn't an earlier export.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a new or an empty folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} holds an earlier export.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another folder, or ask for the earlier export to be replaced.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Another export to {path} is running.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Wait for it, or choose another folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Loading</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Asking the original</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tracing</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Writing the graph</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Writing tokenizer and configuration</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Checking with onnxruntime</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} ({architecture}) can't be exported: language models with a cache, encoders and classifiers can.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Exporting {name} needs about {needed:.1f} GB of memory, and {free:.1f} GB are free.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Close other programs, or choose a smaller model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{architecture} can't be traced for ONNX: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The detail says where; please report this model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The exported model couldn't be checked: the checking process ended with status {status}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The detail holds what it said.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The exported model doesn't compute what the original computes: {check} gave {value:.4g}, and {limit:.4g} is allowed.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing was written. Please report this model; the detail lists the checks before it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The exported graph names {there} where {wanted} was declared.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing was written. Please report this model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Axis {axis} of {name} became fixed at {size}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing was written: batches or texts of another length would fail. Please report this model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The attention mask was optimised away; padded batches would be wrong.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{found} of {count} quantized layers were written as {node} nodes.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{megabytes:.1f} MB of the data file isn't referenced.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} holds no {file}, so it isn't an ONNX export.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose the folder that an export was written to.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is damaged and can't be read as an ONNX graph.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Export the model again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The weights' file {file} is missing beside {graph}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy both files together, or export the model again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The weights' file {file} is cut short: {there} bytes of {needed} are there.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy it again, or export the model again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This onnxruntime reads IR up to {highest}, the file has {version}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Update onnxruntime, or export the model again with this version of Spokeshave.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This onnxruntime is too old for the operators in {path}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>onnxruntime can't open {path}: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This export has no key-value cache: it's an encoder or a classifier, which doesn't generate text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose an exported language model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} holds no tokenizer.json, so text can't be turned into tokens.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy the model's tokenizer.json into the folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} can't be read as a tokenizer.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The prompt is empty.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Write at least one word.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The prompt has {count} tokens, and this model reads {context} at most.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This model's attention has sinks, which the ONNX export doesn't write yet.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{architecture} has no key-value cache, so it can't be exported as a text generator.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a decoder-only language model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{architecture} keeps more than keys and values between tokens, which the ONNX export doesn't write yet.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a model whose layers are all attention layers.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The method {name} couldn't be loaded: {reason}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Mend or remove its file, or install what it needs.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no method called {name}.{suggestion}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The methods are: {known}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{method} works on {tasks}; {name} isn't one of them.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another method or another variant.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} is already quantized, and {method} would have to undo that.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Apply it to the variant before the quantization, and quantize last.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{method} needs a text to learn from.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a text file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} has no tokenizer, so {method} can't read the text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no variant called {variant} here.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose one from the list.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Student</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Who learns: another variant with the same tokens, or, where none is chosen, a shallower copy of the teacher. The variant that the method is applied to is the teacher.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Layers to keep</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Layers of the shallower copy, spread evenly over the teacher's, the first and last among them. Empty: half of them. Fewer are faster and learn less.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Temperature</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Softens both models' probabilities before they're compared. Higher teaches more of unlikely tokens; 1 compares as they are.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Weight of the text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>How much the text itself counts beside the teacher. 0: only the teacher. Raise it where the text is better than the teacher.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} is quantized, and a shallower copy of packed weights can't be trained.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Distil the variant before the quantization, or choose another variant as the student.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Distil</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Minutes to hours, needs a text. A student that's smaller and faster for real; how good depends on the time given.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A student of {wanted} layers isn't shallower than its teacher of {total}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keep fewer than {total} layers.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{student} has other tokens than {teacher}, so it can't learn from it token by token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a student with the same tokenizer.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{student} can't learn from itself.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another variant as the student, or a shallower copy.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{student} doesn't generate text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another student.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{student} is quantized, and packed weights can't be trained.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose the variant that it was quantized from.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keep zeros</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Whether weights of linear layers that are exactly zero stay so. Automatic: where more than 1 % are, as after pruning. Never undoes the pruning.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Where it was pruned</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Always</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Never</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Steps</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Updates of the weights. More is better until the held-out loss stops falling.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Learning rate</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size of the updates at their largest. Halve it where the held-out perplexity rises; raise it for small models and deep cuts.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Finetune</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Minutes to hours, needs a text. Wins back much of what pruning cost, on text of that kind; zeros stay zeros.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pattern</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Free: any weight may go, best for accuracy. 2:4 and 4:8: exactly half of every 4 (8) neighbours in a row go; some GPUs multiply 2:4 faster. Choose it only for such a GPU.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Free</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>2 of every 4</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>4 of every 8</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Sparsity</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Share of the weights of the linear layers that become zero. Accuracy falls slowly up to about 0.3, and fast after 0.5.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Compare within</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Where weights compete to stay. Row: every output keeps the same share, the safest. Layer: rows may differ. Whole model: layers with small weights lose the most.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Each output row</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Each layer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The whole model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} has no linear layers to prune.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The pattern {pattern} needs widths that {group} divides, and {name} has none.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose the free pattern.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Comparing weights</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pruning</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Magnitude pruning</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Seconds, needs no data. Zeros only: no smaller on disk. Mild up to 30 %, harsh at 50 % unless finetuned.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The weights of {layer} aren't all numbers (NaN or infinite), so they can't be compared.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model is damaged; import it again from its source.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Bits</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Bits a weight. 8 is nearly free. 4 halves the file again and costs accuracy: use groups. Below 4 most models break.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>8 bits</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>6 bits</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>5 bits</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>4 bits</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>3 bits</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>2 bits</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>One scale for each</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Weights that share a scale. Automatic: an output row at 8 bits, a group of columns below. Groups cost a few per cent of size and save accuracy at low bits.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Automatic</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Output row</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Group of columns</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Group size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Columns that share a scale. Smaller is more accurate and larger on disk. Where it doesn't divide the model's widths, the next smaller size that does is taken, and said.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>columns</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Symmetric</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Zero lies in the middle of the grid, and only a scale is stored. Turn it off at 4 bits and below: an offset is stored too, for better accuracy and about 1 % more size.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Clip outliers</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Search for each scale the range with the least squared error, instead of reaching to the largest weight. Takes some twenty times longer; helps at 4 bits and below.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} has no linear layers that can be saved packed{why}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another model, or prune it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Quantizing</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The weights of {layer} aren't all numbers (NaN or infinite), so they can't be rounded.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Round to nearest</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Seconds, needs no data. 8 bits: half the size, hardly a loss. 4 bits: a quarter, and it shows.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Batch</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Windows of text a step. Larger is steadier and slower; halve it where memory runs out.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>windows</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Context</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tokens a window. Memory and time grow with it; longer than what the model will read later is wasted.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Size of the updates at their largest. Halve it where the loss jumps or rises; double it where it hardly falls.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Warm-up</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Share of the steps in which the learning rate grows from nothing to its full size. Raise it where the loss jumps at first.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Weight decay</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pull of the weights towards zero at each step. Raise it to 0.1 for long trainings on little text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Precision</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>In which forward and backward are computed; the weights are kept in float32. Automatic: bfloat16 on a GPU or CPU that multiplies in it, else float32.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>float32</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>bfloat16</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading the text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} has {tokens} tokens; training with a context of {context} needs {needed}, part of them kept aside.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a longer text, or a context of at most {most}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Training</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The training diverged: at step {step} the loss isn't a number any more.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a smaller learning rate or a longer warm-up.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The transformer blocks of {architecture} can't be recognised.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Methods that work block by block can't be used on it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Inspecting</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copying</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Converting</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{tensor} has values too large for {dtype}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose bfloat16 or float32.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Checking weights</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{tensor} holds {count} values that aren't finite numbers (NaN or infinity), so nothing could be measured on this model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Get an undamaged copy of it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Checking that it loads</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model takes {needed} MB of memory, and {free} MB are free.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} loads, but computes values that aren't finite numbers.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Try another precision to store it in: float32 or bfloat16.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Dequantizing {name} takes {needed} MB of memory, and {free} MB are free.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} couldn't be converted: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open the model's original folder instead.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Dequantizing</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Apple GPU</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no device called {name}.{suggestion}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose auto, cpu, cuda:0 or mps.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This machine has no {name} that torch can use.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It has: {known}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} isn't a precision to compute in.{suggestion}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose auto, float32, bfloat16 or float16.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} isn't a GGUF file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a .gguf file or a model's folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} is of GGUF version {version}, which isn't read here.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Convert it with a current llama.cpp; big-endian files aren't read at all.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} is of the architecture {architecture}, which can't be converted from GGUF here.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>These can: {known}. Otherwise open the model's original folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{repo} holds GGUF files rather than a transformers model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download one of them ({file}, say) and open that file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{repo} isn't a transformers model: it has no config.json.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another repository.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{repo} isn't complete: its index lists {file}, which isn't there.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{repo} has its weights pickled only ({file}); Spokeshave doesn't read pickles, because opening one runs code from it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Look for a safetensors copy of the model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{repo} has no weights in safetensors.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} of {repo} isn't valid JSON.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Downloading</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The disk has {free} MB free, and {needed} MB of {file} are still to come.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Free some space and import it again; what has been downloaded is kept.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{repo} can't be fetched, because downloads are switched off (HF_HUB_OFFLINE is set).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Unset HF_HUB_OFFLINE, or open a folder instead.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{repo} is gated: its authors give access to those who ask for it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ask for access at {page}, then log in with 'hf auth login'.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no model {repo} on the Hub, or it's private.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Check the id (org/name); for a private model, log in with 'hf auth login'. To open a folder, check its path.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{repo} doesn't have a file that its list names.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It may have changed just now; try again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The Hub refused to send {repo} (status {status}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Try again later; what has been downloaded is kept.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The Hub at {place} can't be reached.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Check the network connection, or open a folder or a .gguf file instead.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The connection broke off while {repo} was being downloaded.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Import it again: it goes on where it stopped.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{source} doesn't exist.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Give a model's folder, a .gguf file, or a Hub id such as org/name.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} is one file of a model; its folder is what can be opened.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose the folder {folder}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} holds no weights.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose the file with the model itself.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} is one part of a model that was split into {parts} GGUF files.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Join them with llama.cpp's gguf-split --merge, and open the result.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} is empty.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a folder that holds a model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} is a folder with GGUF files, not a transformers model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose the file {file} itself.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} holds no model itself, but its folder {inside} does.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose that folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} isn't a model: it has no config.json.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose the folder that holds config.json and the .safetensors files.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The weights in {folder} are pickled ({file}); Spokeshave doesn't read pickles, because opening one runs code from it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Save the model as safetensors where you trust it, or look for a safetensors copy of it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} has weights only in a format that Spokeshave doesn't open ({file}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} has no model.safetensors; transformers wouldn't find {file} without an index.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Rename it to model.safetensors, or add model.safetensors.index.json.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} has a config.json but no weights.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download the .safetensors files too.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The installed transformers doesn't know the model type {type}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Update transformers, or choose another model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>config.json doesn't make a valid {type} model: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download it again, or correct it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The tokenizer in {folder} can't be read.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download its files again, or remove them to open the model without one.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} couldn't be loaded: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The detail says where it failed.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} needs code of its own to run, and Spokeshave doesn't run code that comes with a model unless you ask for it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>If you trust its author, open it again with remote code allowed.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The tokenizer of {name} can't be read: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download its files again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The installed transformers has no model class {architecture}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} is stored quantized in a way that Spokeshave doesn't read ({format}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose its unquantized original, or a compressed-tensors copy with integer weights.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} quantizes its activations as well as its weights, which Spokeshave can't load yet without changing its numbers.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a copy with quantized weights only.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} orders its quantized columns by activation (g_idx), which Spokeshave doesn't read.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a copy with static groups.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A {layer} layer can't be stored packed: no format that plain transformers reads has it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Leave these layers out, or choose a model with Linear layers.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A packed weight in this model is damaged or of an unknown layout.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download or make it again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Asymmetric grids below 8 bits can't be mixed with others in one model: plain transformers would read them wrongly.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Use symmetric grids, or one asymmetric grid whose group size divides the width of every layer.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The output layer is tied to the embedding, so it can't be packed apart from it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Leave the output layer out.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{tensor} has values too large for {dtype}, so the model can't be stored in it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Store it in bfloat16 or float32.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The result isn't usable: {tensor} holds values that aren't finite numbers.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Try a smaller learning rate or a milder setting.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The disk has {free} MB free, and {needed} MB are needed.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Free some space, or choose a workspace on another disk.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Saving</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} is only a Git LFS pointer: the weights themselves haven't been downloaded.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Run 'git lfs pull' in that folder, or download the file again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} is cut short: at least {missing} bytes are missing at its end.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download or copy it again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{file} is damaged: {why}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{count} of the {total} weight files are missing, {first} among them.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download the rest of the model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The index lists {count} tensors that no file holds, {first} among them.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download the model again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Checking</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The saved model doesn't reload in plain transformers: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing was kept. The detail has the trace; please report it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The saved model reloads, but not all of its weights fit.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing was kept. The detail names them; please report it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The process that reloads the saved model ended early (exit code {code}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There may not be enough memory to hold the model twice; close other programs and try again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The saved model gives outputs of shape {theirs}, the one in memory {mine}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing was kept. Please report it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The saved model gives other numbers than the one in memory (largest difference {difference:.3g}, outputs up to {scale:.3g}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{method} has no setting called {knob}.{suggestion}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Its settings are: {known}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{method}: {knob} = {value} isn't possible: {reason}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Change {knob}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{pair} isn't a setting.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Write knob=value, for example --set bits=4.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{where} isn't YAML.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The detail says where it breaks.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{where} is empty or isn't a recipe.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy one from a variant's inspector.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{where} is of format {version}; this Spokeshave reads format {known}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Its first line should be 'spokeshave: 1'.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{where} has a mistake at {place}: {reason}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Compare it with a recipe copied from a variant.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Measuring size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no step to apply.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a method.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{method} doesn't apply to {name}: it's of the kind {task}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another method.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The text {path} isn't the one that the recipe was made with.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Restore that text, or remove its sha256 from the recipe to use this one.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no tokenizer, so text can't be scored.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Put the tokenizer's files beside the model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No draft was named.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a draft, n-gram lookup, or none.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} is not a Spokeshave workspace.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Import a model into it first, or choose another folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{folder} holds other files, so it can't become a workspace.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose an empty folder or a new name.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The workspace {folder} can't be made: {why}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose another folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is damaged.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Restore it, or import the models into a new workspace.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This workspace was made by a later Spokeshave (format {theirs}, this one knows {ours}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{variant} isn't the id of a variant.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ids are listed by 'list'.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no variant {variant} in this workspace.{suggestion}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>'list' shows what there is.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The record of variant {variant} is damaged.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Its model files are still in {folder}; import that folder again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} can't be deleted while {others} came from it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Delete those first.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is missing.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Check the folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} isn't valid JSON.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Download or write it again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} doesn't hold a JSON object.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This architecture computes its attention itself; it was exported as it is, which runs slower.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} quantized layers keep their own grid, packed in MatMulNBits; nothing was quantized again.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>MatMulNBits holds 4 or 8 bits: layers of other widths take the next larger one in the file, with the same values.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The grid's values are exact here; plain transformers rounds them to the stored dtype as it loads this variant.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} quantized layers are stored as float32: MatMulNBits can't hold their groups exactly.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Weights are stored as float32: the export is {n} times as large as the model's own files.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>the most likely token</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{ties} exact ties fell the other way</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>the whole text at once</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>chunks and single steps with the cache</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>a batch of {n}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>a batch of {n} padded at the {side}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>greedy tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>from token {first} on, where the original's two best differ by {n}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>the whole text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>a padded batch of {n}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{title} works on {n}; this is {n2}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The size is the student's own.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Student: {n} of the teacher's {total} layers ({n2}).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Student: began with the weights of {name}; the teacher is the parent, {name2}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It chooses the teacher's token {n} % of the time ({n2} % before).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{held} zeros held ({n} % of the linear layers' weights).</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>0 % smaller on disk, {n} % zeros</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>0 % smaller on disk, {n} % zeros: {zeros} of the {weights} weights in {n2} linear layers are zero ({n3} %); embeddings, head, norms and biases are untouched.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Left as they were, since {group} doesn't divide their width: {n}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The size isn't known beforehand: the model's shape isn't in its configuration.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Group size {size} instead of {group_size}, which doesn't divide the widths.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Group size {size} instead of {group_size}: {group_size2} doesn't divide the widths {n}, and all layers get the same.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} linear layers in {bits} bits, one scale for each {n2}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{kept}; embeddings and head stay in {n}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Left as they were, since transformers can't reload them packed: {n}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The tokenizer has more tokens than the embedding has rows, so some text can't be read.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This model comes with its own code; it isn't run unless you ask for it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The output layer is tied to the embedding, yet the file stores it twice.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no tokenizer, so text can't be scored or generated.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Held in float32 it needs more memory than is free.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>One of the two has no tokenizer, so their tokens can't be compared.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Its tokenizer has other tokens than the target's.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Not measured: {error}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>curves</name>
        <message>
            <source>Loss</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Loss against the teacher</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Loss on the text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Learning rate</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Held-out perplexity</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Error by layer</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>measures</name>
        <message>
            <source>{change} pt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Perplexity</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Bits per byte</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>KL divergence</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Agreement</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Accuracy</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cosine</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode speed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prefill speed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Resident memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Peak memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>ONNX logit difference</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>ONNX top-1 agreement</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>taken {when}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>yes</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>no</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>text</name>
        <message>
            <source>not measured</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{m} min {s} s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{m} min</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{h} h {m} min</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{n} s left</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{m} min left</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{h} h {m} min left</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Original</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pruned</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Quantized</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Distilled</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Combined</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>token_card</name>
        <message>
            <source>prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>plain</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>accepted</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>rejected</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>corrected</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>bonus</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>untested</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What you wrote.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Written by the target alone: nothing was drafted.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Guessed by the draft and kept by the target, which scored the whole guess in one call.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Guessed by the draft and dropped by the target. It's no part of the text.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What the target put in place of a dropped token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The whole guess was kept, so the same call gave one more token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Guessed, but not looked at, since an earlier token of the guess was dropped.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>part of the prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>written by the target alone: nothing was drafted in this round</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>kept: u = {u} ≤ q/p = {ratio}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>kept for sure: the target likes it at least as much, q = {q} ≥ p = {p}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>kept: u = {u} ≤ q = {q} (this draft has no probabilities)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>kept: it's the target's first choice as well ({q})</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>kept: it's the target's first choice as well</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>dropped: u = {u} &gt; q/p = {ratio}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>dropped: u = {u} &gt; q = {q} (this draft has no probabilities)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>dropped: the target prefers {other} ({q})</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>dropped: the target prefers {other}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>dropped by the target</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>not looked at: an earlier token of the round was dropped</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>not used: the text had ended before it</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>put in place of {other}: the target's first choice ({q})</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>put in place of {other}: the target's first choice</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>put in place of {other}: drawn from what the target gives more than the draft</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>put in place of {other}: drawn from all the target's other tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>one more for nothing: all {n} guesses were kept, and the same call had scored this place too</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>another token</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>α {alpha}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>entropy {draft} draft, {target} target</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>entropy {target} target</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>place {position}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>round {round} · place {position}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>first leads second by {margin}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{token}: target {q}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{token}: draft {p}, target {q}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pinned. Esc or a click closes it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>target q(x)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>draft p(x)</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>wizards</name>
        <message>
            <source>Choose a text file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no file at {path}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is a folder. Choose a text file.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no permission to read {path}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is empty.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Give it a name.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This may not fit: it needs about {needed}, and {device} has {free} free.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading the headers …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This model can't be opened.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This model brings its own code. Allow it, or choose another model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a model first.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is nothing at {path}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} isn't a model. Choose a folder, a .gguf file or a Hub id.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It's quantized already. Choose the variant that it came from.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It's quantized, and that comes last. Choose the variant that it came from.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It couldn't be loaded: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It doesn't work on this kind of model.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It needs labelled examples, which this wizard can't give it yet.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no model in this workspace yet.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a variant.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The worker is still starting. The methods appear in a few seconds.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a method.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It would be measured on the text that it's trained on, which flatters it. Choose another text to measure on.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It's the variant itself.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Its tokenizer has other tokens, so the two can't be compared token by token.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose at least one variant.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>It isn't known what this model does, so its inputs can't be described.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The graph, with a key-value cache for fast generation.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The graph, without a cache.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The weights, beside the graph.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Configuration and tokenizer, as transformers writes them.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What was checked, and the figures.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{path} is a file. Choose a folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Give the whole path of the folder.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>That folder belongs to the workspace's variants. Choose another.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The folder holds files already. Allow replacing them, or choose another.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>There is no permission to write to {path}.</source>
            <translation type="unfinished" />
        </message>
    </context>
</TS>
