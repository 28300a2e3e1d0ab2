<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>AboutDialog</name>
        <message>
            <source>About Spokeshave</source>
            <translation>关于 Spokeshave</translation>
        </message>
        <message>
            <source>Version {version}</source>
            <translation>版本 {version}</translation>
        </message>
        <message>
            <source>Takes off what a model doesn't need: prunes, quantizes and distils it, shows what each cut cost, drafts with one model for another, and exports to ONNX and GGUF.</source>
            <translation>削去模型不需要的部分：剪枝、量化、蒸馏，显示每一刀的代价，用一个模型为另一个打草稿，并导出为 ONNX 和 GGUF。</translation>
        </message>
        <message>
            <source>Apache License 2.0. Fonts: Inter and JetBrains Mono (OFL). Icons: Phosphor (MIT).</source>
            <translation>Apache License 2.0。字体：Inter 与 JetBrains Mono（OFL）。图标：Phosphor（MIT）。</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
    </context>
    <context>
        <name>Advanced</name>
        <message>
            <source>Top-k</source>
            <translation>Top-k</translation>
        </message>
        <message>
            <source>Sample from the k likeliest tokens only. 'all' leaves none out.</source>
            <translation>只从最可能的 k 个词元中采样。“全部”则一个也不排除。</translation>
        </message>
        <message>
            <source>Top-p</source>
            <translation>Top-p</translation>
        </message>
        <message>
            <source>Sample from the fewest tokens that together have this probability. 1 leaves none out.</source>
            <translation>只从概率之和达到此值的最少几个词元中采样。1 则一个也不排除。</translation>
        </message>
        <message>
            <source>Min-p</source>
            <translation>Min-p</translation>
        </message>
        <message>
            <source>Leave out tokens less likely than this share of the likeliest one's probability. 0 leaves none out.</source>
            <translation>去掉概率低于最可能词元概率的这一比例的词元。0 表示都不去掉。</translation>
        </message>
        <message>
            <source>Typical-p</source>
            <translation>Typical-p</translation>
        </message>
        <message>
            <source>Sample from the tokens whose surprise is nearest to the expected one, up to this probability together. 1: all.</source>
            <translation>从惊异度最接近期望值的词元中采样，其概率合计到此为止。1：全部。</translation>
        </message>
        <message>
            <source>Repetition</source>
            <translation>重复</translation>
        </message>
        <message>
            <source>Divides the scores of tokens that occurred already. 1 changes nothing, more makes repeating rarer.</source>
            <translation>把已经出现过的词元的得分除以它。1 不改变任何东西，更大则更少重复。</translation>
        </message>
        <message>
            <source>Presence</source>
            <translation>出现</translation>
        </message>
        <message>
            <source>Taken off the score of each token that was written already, once.</source>
            <translation>从每个已写出的词元的得分中减去，只减一次。</translation>
        </message>
        <message>
            <source>Frequency</source>
            <translation>频率</translation>
        </message>
        <message>
            <source>Taken off the score of each token for every time that it was written.</source>
            <translation>每写出一次，就从该词元的得分中减去一次。</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>种子</translation>
        </message>
        <message>
            <source>The same seed with the same settings gives the same text.</source>
            <translation>相同的种子加相同的设置，得到相同的文本。</translation>
        </message>
        <message>
            <source>Least</source>
            <translation>最少</translation>
        </message>
        <message>
            <source>So many tokens are written before the text may end by itself.</source>
            <translation>写出这么多词元之后，文本才可以自行结束。</translation>
        </message>
        <message>
            <source>all</source>
            <translation>全部</translation>
        </message>
        <message>
            <source>Separate several with |. \n is a line break; blanks at the ends count inside "quotes".</source>
            <translation>多个之间用 | 分隔。\n 表示换行；放在 "引号" 里时，两端的空格也算。</translation>
        </message>
        <message>
            <source>Begin with</source>
            <translation>以此开头</translation>
        </message>
        <message>
            <source>The text begins with this, whatever the target would write.</source>
            <translation>无论目标模型会写什么，文本都以此开头。</translation>
        </message>
        <message>
            <source>Never write</source>
            <translation>从不写出</translation>
        </message>
        <message>
            <source>Words that are never written; each must be one token.</source>
            <translation>从不写出的词；每个必须是一个词元。</translation>
        </message>
        <message>
            <source>Stop at</source>
            <translation>遇到则停止</translation>
        </message>
        <message>
            <source>The text ends where one of these comes up.</source>
            <translation>文本在出现其中之一处结束。</translation>
        </message>
        <message>
            <source>Confidence</source>
            <translation>置信度</translation>
        </message>
        <message>
            <source>Drafting stops after a token that the draft itself gave less than this. 0: never.</source>
            <translation>草稿模型自己给出的概率低于此值的词元之后，停止打草稿。0：从不停止。</translation>
        </message>
        <message>
            <source>Branches</source>
            <translation>分支</translation>
        </message>
        <message>
            <source>Candidates at each depth of the tree.</source>
            <translation>树的每一层的候选数。</translation>
        </message>
        <message>
            <source>Exit after</source>
            <translation>退出层</translation>
        </message>
        <message>
            <source>How many of the target's first layers draft. 'a third' of them, if unsaid.</source>
            <translation>用目标模型的前多少层打草稿。不指定则为三分之一。</translation>
        </message>
        <message>
            <source>Skipped layers</source>
            <translation>跳过的层</translation>
        </message>
        <message>
            <source>Which of the target's layers the draft leaves out, such as 4, 7-9. Empty: searched on your prompt.</source>
            <translation>草稿略去目标模型的哪些层，例如 4, 7-9。留空：根据你的提示词搜索。</translation>
        </message>
        <message>
            <source>ε</source>
            <translation>ε</translation>
        </message>
        <message>
            <source>Typical: a token is kept above min(ε, δ exp(−entropy)).</source>
            <translation>典型接受：概率高于 min(ε, δ exp(−熵)) 的词元被保留。</translation>
        </message>
        <message>
            <source>δ</source>
            <translation>δ</translation>
        </message>
        <message>
            <source>Accept k</source>
            <translation>接受 k</translation>
        </message>
        <message>
            <source>A token is kept when it's among so many of the target's likeliest.</source>
            <translation>词元若在目标模型最可能的这么多个之中，就被保留。</translation>
        </message>
        <message>
            <source>a third</source>
            <translation>三分之一</translation>
        </message>
        <message>
            <source>off</source>
            <translation>关</translation>
        </message>
        <message>
            <source>searched</source>
            <translation>搜索得出</translation>
        </message>
        <message>
            <source>Reset</source>
            <translation>重置</translation>
        </message>
        <message>
            <source>Put everything here back to what's usual</source>
            <translation>把这里的一切恢复为通常的值</translation>
        </message>
        <message>
            <source>The skipped layers can't be read. Write their numbers, such as 4, 7-9.</source>
            <translation>无法读懂要跳过的层。请写出它们的编号，例如 4, 7-9。</translation>
        </message>
    </context>
    <context>
        <name>BaselinePage</name>
        <message>
            <source>Baseline</source>
            <translation>基线</translation>
        </message>
        <message>
            <source>Measure a baseline</source>
            <translation>测量基线</translation>
        </message>
        <message>
            <source>What each later cut costs is told against this: perplexity on a text, and speed.</source>
            <translation>之后每次削减的代价都以此为准：文本上的困惑度，以及速度。</translation>
        </message>
        <message>
            <source>Measure perplexity and speed after opening</source>
            <translation>打开后测量困惑度和速度</translation>
        </message>
        <message>
            <source>Held-out text that comes with Spokeshave</source>
            <translation>Spokeshave 自带的留出文本</translation>
        </message>
        <message>
            <source>Shakespeare that the starter models haven't seen. Good for comparing variants of any English model.</source>
            <translation>入门模型没有见过的莎士比亚作品。适合比较任何英语模型的各个变体。</translation>
        </message>
        <message>
            <source>The handwritten digits that come with Spokeshave</source>
            <translation>Spokeshave 自带的手写数字</translation>
        </message>
        <message>
            <source>What the starter model learnt from. For another model, choose the images that it learnt from.</source>
            <translation>入门模型所学的图像。对于其他模型，请选择它所学的图像。</translation>
        </message>
        <message>
            <source>As it's stored</source>
            <translation>与存储时相同</translation>
        </message>
        <message>
            <source>The precision in which the copy in the workspace is kept</source>
            <translation>工作区中的副本以何种精度保存</translation>
        </message>
        <message>
            <source>4,000 tokens: quick, less sure</source>
            <translation>4,000 个词元：快，但不太确定</translation>
        </message>
        <message>
            <source>20,000 tokens</source>
            <translation>20,000 个词元</translation>
        </message>
        <message>
            <source>100,000 tokens: slow, surer</source>
            <translation>100,000 个词元：慢，但更确定</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Keep the weights as</source>
            <translation>权重保存为</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Read at most</source>
            <translation>最多读取</translation>
        </message>
        <message>
            <source>Measure the Fréchet distance and speed after opening</source>
            <translation>打开后测量 Fréchet 距离和速度</translation>
        </message>
        <message>
            <source>What each later cut costs is told against this: likeness to images, and speed.</source>
            <translation>之后每次削减的代价都对照它来说明：与图像的相似程度，以及速度。</translation>
        </message>
    </context>
    <context>
        <name>ChannelPlot</name>
        <message>
            <source>Largest of each channel</source>
            <translation>每个通道的最大值</translation>
        </message>
        <message>
            <source>median {median} (dashed), largest {largest}</source>
            <translation>中位数 {median}（虚线），最大 {largest}</translation>
        </message>
        <message>
            <source>{words}; line: before, scaled to this median, largest {times} it</source>
            <translation>{words}；线：之前，按此中位数缩放，最大为其{times}</translation>
        </message>
    </context>
    <context>
        <name>Chat</name>
        <message>
            <source>System message (optional): who the model is to be</source>
            <translation>系统消息（可选）：模型要扮演谁</translation>
        </message>
        <message>
            <source>System message</source>
            <translation>系统消息</translation>
        </message>
        <message>
            <source>Message: what you say next</source>
            <translation>消息：你接下来要说的</translation>
        </message>
        <message>
            <source>Message</source>
            <translation>消息</translation>
        </message>
        <message>
            <source>What you say next. Ctrl+Enter sends it; the reply becomes a turn of the chat.</source>
            <translation>你接下来要说的。按 Ctrl+Enter 发送；回复会成为对话中的一轮。</translation>
        </message>
        <message>
            <source>Begin a new chat</source>
            <translation>开始新的对话</translation>
        </message>
        <message>
            <source>The message is empty. Write what you say next.</source>
            <translation>消息是空的。请写下你接下来要说的。</translation>
        </message>
        <message>
            <source>You</source>
            <translation>你</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>System</source>
            <translation>系统</translation>
        </message>
        <message>
            <source>Take this turn and what follows back</source>
            <translation>收回这一轮及其后的内容</translation>
        </message>
    </context>
    <context>
        <name>ChoiceKey</name>
        <message>
            <source>a scale a tensor</source>
            <translation>每张量一个缩放系数</translation>
        </message>
        <message>
            <source>a scale a tensor, feedback</source>
            <translation>每张量一个缩放系数，误差反馈</translation>
        </message>
        <message>
            <source>a scale a row</source>
            <translation>每行一个缩放系数</translation>
        </message>
        <message>
            <source>a scale a row, feedback</source>
            <translation>每行一个缩放系数，误差反馈</translation>
        </message>
        <message>
            <source>{n} bits</source>
            <translation>{n} 位</translation>
        </message>
    </context>
    <context>
        <name>ClassifyDialog</name>
        <message>
            <source>Classify with {name}</source>
            <translation>用 {name} 分类</translation>
        </message>
        <message>
            <source>onnxruntime runs the exported files on your texts, and torch the variant that they were made from.</source>
            <translation>onnxruntime 在你的文本上运行导出的文件，torch 运行它们所来自的变体。</translation>
        </message>
        <message>
            <source>Classify</source>
            <translation>分类</translation>
        </message>
        <message>
            <source>Texts, one a line</source>
            <translation>文本，每行一段</translation>
        </message>
        <message>
            <source>Texts</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>Nothing classified yet</source>
            <translation>尚未分类</translation>
        </message>
        <message>
            <source>Write a text or several, one a line.</source>
            <translation>请写一段或多段文本，每行一段。</translation>
        </message>
        <message>
            <source>Write a text first.</source>
            <translation>请先写一段文本。</translation>
        </message>
        <message>
            <source>Variant, torch</source>
            <translation>变体，torch</translation>
        </message>
        <message>
            <source>Export, onnxruntime</source>
            <translation>导出，onnxruntime</translation>
        </message>
        <message>
            <source>Milliseconds for a text: the median of a few repeats in turns</source>
            <translation>每段文本的毫秒数：轮流重复几次的中位数</translation>
        </message>
        <message>
            <source>ms a text</source>
            <translation>毫秒/文本</translation>
        </message>
        <message>
            <source>The largest difference between two probabilities is {largest}.</source>
            <translation>两个概率之间的最大差异为 {largest}。</translation>
        </message>
        <message>
            <source>The model has one output, which is a number; the largest difference is {largest}.</source>
            <translation>该模型只有一个输出，是一个数；最大差异为 {largest}。</translation>
        </message>
        <message>
            <source>{n} texts were longer than the model reads, and were cut.</source>
            <translation>{n} 段文本超出模型可读的长度，已被截断。</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>Class</source>
            <translation>类别</translation>
        </message>
        <message>
            <source>by onnxruntime</source>
            <translation>由 onnxruntime</translation>
        </message>
        <message>
            <source>by torch</source>
            <translation>由 torch</translation>
        </message>
    </context>
    <context>
        <name>ComboEditor</name>
        <message>
            <source>Automatic</source>
            <translation>自动</translation>
        </message>
    </context>
    <context>
        <name>CompareDialog</name>
        <message>
            <source>Compare {name}</source>
            <translation>对比 {name}</translation>
        </message>
        <message>
            <source>The original, the variant and its ONNX export write after your own prompts, always the likeliest token, and in turns: they ought to write the same, but for near ties where products are rounded. Where they part, the text is marked.</source>
            <translation>原始模型、变体及其 ONNX 导出依次接着你自己的提示续写，总是取最可能的词元：它们应当写出相同的文本，只有乘积经过舍入且接近平局时除外。分歧之处会被标出。</translation>
        </message>
        <message>
            <source>Compare</source>
            <translation>对比</translation>
        </message>
        <message>
            <source>One prompt, or several with a line of three dashes between them</source>
            <translation>一个提示词，或多个，之间用一行三个短横线隔开</translation>
        </message>
        <message>
            <source>Prompts</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>个词元</translation>
        </message>
        <message>
            <source>How much each writes after a prompt</source>
            <translation>每个提示词之后各写多少</translation>
        </message>
        <message>
            <source>Nothing compared yet</source>
            <translation>尚未对比</translation>
        </message>
        <message>
            <source>Write a prompt like those that you'll use the model for.</source>
            <translation>请写一个与你将来的用途相似的提示词。</translation>
        </message>
        <message>
            <source>Write a prompt first.</source>
            <translation>请先写一段提示词。</translation>
        </message>
        <message>
            <source>Tokens per second of plain decoding: the median over the tokens, each form writing one in turn; prompts aren't counted</source>
            <translation>普通解码每秒的词元数：各形式轮流各写一个，取各词元的中位数；不计提示词</translation>
        </message>
        <message>
            <source>tokens/s</source>
            <translation>词元/秒</translation>
        </message>
        <message>
            <source>Original, torch</source>
            <translation>原模型，torch</translation>
        </message>
        <message>
            <source>Variant, torch</source>
            <translation>变体，torch</translation>
        </message>
        <message>
            <source>Export, onnxruntime</source>
            <translation>导出，onnxruntime</translation>
        </message>
        <message>
            <source>the original</source>
            <translation>原模型</translation>
        </message>
        <message>
            <source>the variant</source>
            <translation>变体</translation>
        </message>
        <message>
            <source>The same tokens as {before}</source>
            <translation>与{before}的词元相同</translation>
        </message>
        <message>
            <source>Parts from {before} at token {n}. There torch's two likeliest logits were {margin} apart.</source>
            <translation>在第 {n} 个词元处与{before}分开。在那里，torch 最可能的两个 logit 相差 {margin}。</translation>
        </message>
        <message>
            <source>The top-2 margin: how much the chosen token's logit was above the next one's. Near 0, rounding decides.</source>
            <translation>前两名之差：所选词元的 logit 比下一个高多少。接近 0 时由舍入决定。</translation>
        </message>
    </context>
    <context>
        <name>CompressWizard</name>
        <message>
            <source>Start, and configure another</source>
            <translation>开始，并配置下一个</translation>
        </message>
        <message>
            <source>Prune</source>
            <translation>剪枝</translation>
        </message>
        <message>
            <source>Quantize</source>
            <translation>量化</translation>
        </message>
        <message>
            <source>Distil</source>
            <translation>蒸馏</translation>
        </message>
        <message>
            <source>Fine-tune</source>
            <translation>微调</translation>
        </message>
        <message>
            <source>Started: {names}. Change a setting for another.</source>
            <translation>已开始：{names}。更改设置即可再来一个。</translation>
        </message>
        <message>
            <source>{name}, from {source}</source>
            <translation>{name}，源自 {source}</translation>
        </message>
    </context>
    <context>
        <name>Controls</name>
        <message>
            <source>The model whose text it is. Whatever the draft guesses, the target decides.</source>
            <translation>最终写出的是它的文本。无论草稿模型猜什么，都由目标模型决定。</translation>
        </message>
        <message>
            <source>Plain decoding only</source>
            <translation>仅普通解码</translation>
        </message>
        <message>
            <source>Second draft of the race</source>
            <translation>赛跑中的第二个草稿</translation>
        </message>
        <message>
            <source>How freely to sample. 0 is greedy: always the likeliest token. 1 samples from the model's own distribution.</source>
            <translation>采样有多自由。0 为贪心：总取最可能的词元。1 按模型自身的分布采样。</translation>
        </message>
        <message>
            <source>greedy</source>
            <translation>贪心</translation>
        </message>
        <message>
            <source>Stop after so many new tokens.</source>
            <translation>写出这么多新词元后停止。</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Where both models run.</source>
            <translation>两个模型在哪里运行。</translation>
        </message>
        <message>
            <source>Best device</source>
            <translation>最佳设备</translation>
        </message>
        <message>
            <source>Prompt: the text to go on from</source>
            <translation>提示词：要接着写下去的文本</translation>
        </message>
        <message>
            <source>Prompt</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>The text to go on from. Ctrl+Enter runs.</source>
            <translation>要接着写下去的文本。按 Ctrl+Enter 运行。</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>Chat</source>
            <translation>对话</translation>
        </message>
        <message>
            <source>Go on from a text as it is</source>
            <translation>从一段文本原样接着写</translation>
        </message>
        <message>
            <source>Turn by turn, written in the model's own chat template</source>
            <translation>一轮一轮地对话，按模型自己的对话模板书写</translation>
        </message>
        <message>
            <source>Race</source>
            <translation>对比赛跑</translation>
        </message>
        <message>
            <source>Decode plainly too, with the same seed, in turns and each by its own clock: that's what the speed-up is measured against.</source>
            <translation>同时用相同种子做普通解码，轮流进行、各自计时：加速比就以它为准。</translation>
        </message>
        <message>
            <source>A second way to draft can run in the same race.</source>
            <translation>同一场赛跑里还可以有第二种打草稿的方式。</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>Decode from the prompt (Ctrl+Enter)</source>
            <translation>从提示词开始解码（Ctrl+Enter）</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>单步</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>End here and keep what there is</source>
            <translation>到此为止，保留已有内容</translation>
        </message>
        <message>
            <source>Find one…</source>
            <translation>寻找…</translation>
        </message>
        <message>
            <source>Try every way to draft for this target on your prompt, and see which pays</source>
            <translation>用你的提示词试遍为该目标模型打草稿的方式，看哪种划算</translation>
        </message>
        <message>
            <source>Tools</source>
            <translation>工具</translation>
        </message>
        <message>
            <source>Find a draft, check exactness, see how it works</source>
            <translation>寻找草稿、检验精确性、了解原理</translation>
        </message>
        <message>
            <source>Find a draft…</source>
            <translation>寻找草稿…</translation>
        </message>
        <message>
            <source>Check exactness…</source>
            <translation>检验精确性…</translation>
        </message>
        <message>
            <source>Test on this very pair that what's written is distributed as the target's own text</source>
            <translation>就在这一对模型上检验：写出的文本是否与目标模型自己的文本同分布</translation>
        </message>
        <message>
            <source>How it works…</source>
            <translation>工作原理…</translation>
        </message>
        <message>
            <source>The engine on a toy model, over every random choice</source>
            <translation>在玩具模型上运行引擎，遍历每一个随机选择</translation>
        </message>
        <message>
            <source>Target</source>
            <translation>目标</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>草稿</translation>
        </message>
        <message>
            <source>Policy</source>
            <translation>策略</translation>
        </message>
        <message>
            <source>Verifier</source>
            <translation>验证方式</translation>
        </message>
        <message>
            <source>Temp.</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>Tokens</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>Race against plain decoding and</source>
            <translation>除普通解码外的对手：</translation>
        </message>
        <message>
            <source>It has no tokenizer.</source>
            <translation>它没有分词器。</translation>
        </message>
        <message>
            <source>Open a model first.</source>
            <translation>请先打开一个模型。</translation>
        </message>
        <message>
            <source>No model here can generate text.</source>
            <translation>这里没有能生成文本的模型。</translation>
        </message>
        <message>
            <source>{name} can't be the target. {why}</source>
            <translation>{name} 不能作为目标模型。{why}</translation>
        </message>
        <message>
            <source>{name} has no chat template, so turns can't be written the way it knows. Use Text.</source>
            <translation>{name} 没有对话模板，因此无法按它熟悉的方式写出各轮对话。请使用“文本”。</translation>
        </message>
        <message>
            <source>The prompt is empty. Write a few words to go on from.</source>
            <translation>提示词是空的。请写几个词，让模型接着写下去。</translation>
        </message>
        <message>
            <source>The least number of tokens is more than the most.</source>
            <translation>最少词元数大于最多词元数。</translation>
        </message>
        <message>
            <source>A run is under way.</source>
            <translation>正在运行。</translation>
        </message>
        <message>
            <source>Resume</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Go on</source>
            <translation>接着进行</translation>
        </message>
        <message>
            <source>Wait after this round</source>
            <translation>这一轮之后等待</translation>
        </message>
        <message>
            <source>Start, and show the first round step by step: draft, verify, correct</source>
            <translation>开始，并逐步显示第一轮：打草稿、验证、更正</translation>
        </message>
        <message>
            <source>One step: draft, verify or correct</source>
            <translation>一步：打草稿、验证或更正</translation>
        </message>
        <message>
            <source>Advanced</source>
            <translation>高级</translation>
        </message>
        <message>
            <source>Advanced · {n}</source>
            <translation>高级 · {n}</translation>
        </message>
        <message>
            <source>Finer settings of sampling and drafting; {n} of them changed</source>
            <translation>采样与打草稿的更细设置；其中 {n} 项已更改</translation>
        </message>
    </context>
    <context>
        <name>CurveChart</name>
        <message>
            <source>Step</source>
            <translation>步数</translation>
        </message>
        <message>
            <source>Curves</source>
            <translation>曲线</translation>
        </message>
        <message>
            <source>step {step}: {values}</source>
            <translation>第 {step} 步：{values}</translation>
        </message>
    </context>
    <context>
        <name>CurvesView</name>
        <message>
            <source>No curves</source>
            <translation>没有曲线</translation>
        </message>
        <message>
            <source>A job that trains draws its loss here, as it falls.</source>
            <translation>训练任务会在这里画出它下降的损失。</translation>
        </message>
    </context>
    <context>
        <name>DataPage</name>
        <message>
            <source>Data</source>
            <translation>数据</translation>
        </message>
        <message>
            <source>Which text?</source>
            <translation>哪份文本？</translation>
        </message>
        <message>
            <source>Training text that comes with Spokeshave</source>
            <translation>Spokeshave 自带的训练文本</translation>
        </message>
        <message>
            <source>Shakespeare, {size}. Right for the starter models; for others take text of the kind that they'll meet.</source>
            <translation>莎士比亚作品，{size}。适合入门模型；其他模型请选用它们将会遇到的那类文本。</translation>
        </message>
        <message>
            <source>Those that it learnt from</source>
            <translation>它学过的图像</translation>
        </message>
        <message>
            <source>The starter model learnt from the handwritten digits that come with Spokeshave.</source>
            <translation>入门模型学的是 Spokeshave 自带的手写数字。</translation>
        </message>
        <message>
            <source>Which images?</source>
            <translation>用哪些图像？</translation>
        </message>
        <message>
            <source>Noise is put on them for the model to take off; a fifth is kept aside to choose the best step by.</source>
            <translation>给它们加上噪声让模型去除；留出五分之一用来选最佳的一步。</translation>
        </message>
        <message>
            <source>Which examples?</source>
            <translation>用哪些样例？</translation>
        </message>
        <message>
            <source>Texts, each with its class: a fifth of them is held out, never trained on, and what accuracy is measured on.</source>
            <translation>文本及各自的类别：其中五分之一留出，从不用于训练，准确率在这一部分上测量。</translation>
        </message>
        <message>
            <source>The method runs the model over some text, to see which weights matter there.</source>
            <translation>该方法会让模型读一些文本，看看哪些权重在那里起作用。</translation>
        </message>
        <message>
            <source>The model is trained on it. It should be text like that which it will meet.</source>
            <translation>模型在它上面训练。它应当与模型将会遇到的文本相似。</translation>
        </message>
    </context>
    <context>
        <name>DecodeView</name>
        <message>
            <source>Acceptance rate</source>
            <translation>接受率</translation>
        </message>
        <message>
            <source>Accepted / tested: of the guesses that the target looked at, how many it kept.
</source>
            <translation>接受 / 检验：目标模型看过的猜测中，保留了多少。
</translation>
        </message>
        <message>
            <source>Guesses behind a dropped one aren't looked at, and don't count.</source>
            <translation>被丢弃的猜测之后的那些没有被看过，不计算在内。</translation>
        </message>
        <message>
            <source>Tokens per call</source>
            <translation>每次调用的词元</translation>
        </message>
        <message>
            <source>New tokens / rounds: each round calls the target once, keeps some guesses, and adds one token of its own.
</source>
            <translation>新词元 / 轮数：每轮调用目标模型一次，保留若干猜测，并加上它自己的一个词元。
</translation>
        </message>
        <message>
            <source>Plain decoding has 1.</source>
            <translation>普通解码为 1。</translation>
        </message>
        <message>
            <source>Throughput</source>
            <translation>吞吐量</translation>
        </message>
        <message>
            <source>New tokens per second, from the first round on; reading the prompt isn't counted.</source>
            <translation>从第一轮起每秒的新词元数；读取提示词的时间不计。</translation>
        </message>
        <message>
            <source>Speed-up</source>
            <translation>加速比</translation>
        </message>
        <message>
            <source>Measured: tokens per second with the draft, divided by those without (the race; same seed, prefill excluded).
</source>
            <translation>实测：有草稿时每秒词元数除以无草稿时的（赛跑；相同种子，不含预填充）。
</translation>
        </message>
        <message>
            <source>Possible: what it would be if only the calls of the two models took time.</source>
            <translation>可能：如果只有两个模型的调用耗费时间，会达到多少。</translation>
        </message>
        <message>
            <source>Efficiency</source>
            <translation>效率</translation>
        </message>
        <message>
            <source>Measured speed-up / possible speed-up: how much of what the calls of this run allow was reached.
</source>
            <translation>实测加速比 / 可能加速比：本次运行的各次调用所允许的，实现了多少。
</translation>
        </message>
        <message>
            <source>What's missing went into sampling, taking caches back, and telling this window of it.</source>
            <translation>缺少的部分花在采样、回退缓存以及向本窗口报告上。</translation>
        </message>
        <message>
            <source>Accepted per round</source>
            <translation>每轮接受数</translation>
        </message>
        <message>
            <source>A bar for each round: how many of its guesses were kept.</source>
            <translation>每轮一根柱：它的猜测中有多少被保留。</translation>
        </message>
        <message>
            <source>Time per round</source>
            <translation>每轮用时</translation>
        </message>
        <message>
            <source>A bar for each round: drafting, verifying, and all around them.</source>
            <translation>每轮一根柱：打草稿、验证以及其余一切。</translation>
        </message>
        <message>
            <source>Acceptance by place</source>
            <translation>各位置的接受率</translation>
        </message>
        <message>
            <source>How often the first, second, third … token of a draft is kept.</source>
            <translation>草稿的第一、第二、第三……个词元被保留的频率。</translation>
        </message>
        <message>
            <source>Acceptance, measured against promised</source>
            <translation>接受率：实测与预期</translation>
        </message>
        <message>
            <source>How often guesses are kept, against Σ min(p, q), which is what theory promises.</source>
            <translation>猜测被保留的频率，与理论所预期的 Σ min(p, q) 对照。</translation>
        </message>
        <message>
            <source>Speed-up by length, S(γ)</source>
            <translation>各长度的加速比 S(γ)</translation>
        </message>
        <message>
            <source>The speed-up that each draft length promises: today's, and the best.</source>
            <translation>各草稿长度可望带来的加速比：当前的，以及最好的。</translation>
        </message>
        <message>
            <source>Cost of a call, T(n)</source>
            <translation>一次调用的代价 T(n)</translation>
        </message>
        <message>
            <source>What a call of the target costs by the tokens it's fed.</source>
            <translation>目标模型的一次调用，按输入词元数的代价。</translation>
        </message>
        <message>
            <source>Race: tokens over time</source>
            <translation>赛跑：词元随时间的变化</translation>
        </message>
        <message>
            <source>Tokens over time, with the draft and without.</source>
            <translation>词元随时间的变化，有草稿与无草稿。</translation>
        </message>
        <message>
            <source>Token flow</source>
            <translation>词元流</translation>
        </message>
        <message>
            <source>The lanes of a race side by side</source>
            <translation>并排显示赛跑的各条赛道</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>This run for other programs, or as a picture</source>
            <translation>把本次运行交给其他程序，或存为图片</translation>
        </message>
        <message>
            <source>Everything as JSON…</source>
            <translation>全部内容（JSON）…</translation>
        </message>
        <message>
            <source>Tokens as a table (CSV)…</source>
            <translation>词元表格（CSV）…</translation>
        </message>
        <message>
            <source>Animated picture (WebP)…</source>
            <translation>动画图片（WebP）…</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>运行记录</translation>
        </message>
        <message>
            <source>Recorded runs, to look at and replay</source>
            <translation>已录制的运行，可查看和回放</translation>
        </message>
        <message>
            <source>Details</source>
            <translation>详情</translation>
        </message>
        <message>
            <source>Ending after this round…</source>
            <translation>这一轮之后结束…</translation>
        </message>
        <message>
            <source>Cancelling…</source>
            <translation>正在取消…</translation>
        </message>
        <message>
            <source>Decode: {draft} for {target}</source>
            <translation>解码：{draft} 为 {target} 打草稿</translation>
        </message>
        <message>
            <source>Decode: {target}</source>
            <translation>解码：{target}</translation>
        </message>
        <message>
            <source>Waiting for its turn: {job} is at work…</source>
            <translation>等待轮到它：正在进行 {job}…</translation>
        </message>
        <message>
            <source>Loading the models…</source>
            <translation>正在加载模型…</translation>
        </message>
        <message>
            <source>Paused. Step shows the next round step by step: draft, verify, correct.</source>
            <translation>已暂停。“单步”会逐步显示下一轮：打草稿、验证、更正。</translation>
        </message>
        <message>
            <source>Loading {name}…</source>
            <translation>正在加载 {name}…</translation>
        </message>
        <message>
            <source>run to see</source>
            <translation>运行后显示</translation>
        </message>
        <message>
            <source>needs a draft</source>
            <translation>需要草稿模型</translation>
        </message>
        <message>
            <source>race to measure</source>
            <translation>赛跑后测得</translation>
        </message>
        <message>
            <source>nothing was drafted</source>
            <translation>没有打草稿</translation>
        </message>
        <message>
            <source>{accepted} of {tested} tested</source>
            <translation>检验 {tested}，接受 {accepted}</translation>
        </message>
        <message>
            <source>always, without a draft</source>
            <translation>无草稿时总是如此</translation>
        </message>
        <message>
            <source>at most {most} at γ = {gamma}</source>
            <translation>γ = {gamma} 时最多 {most}</translation>
        </message>
        <message>
            <source>plain {n} tok/s</source>
            <translation>普通解码 {n} 词元/秒</translation>
        </message>
        <message>
            <source>{n} tokens in {time}</source>
            <translation>{n} 个词元，用时 {time}</translation>
        </message>
        <message>
            <source>plain {none}: run the race</source>
            <translation>普通解码 {none}：请进行赛跑</translation>
        </message>
        <message>
            <source>{n} tok/s</source>
            <translation>{n} 词元/秒</translation>
        </message>
        <message>
            <source>there's no draft to compare</source>
            <translation>没有草稿可供比较</translation>
        </message>
        <message>
            <source>possible {times}{x}</source>
            <translation>可能 {times}{x}</translation>
        </message>
        <message>
            <source>slower than plain</source>
            <translation>比普通解码慢</translation>
        </message>
        <message>
            <source>measured</source>
            <translation>实测</translation>
        </message>
        <message>
            <source>as fast as plain</source>
            <translation>与普通解码一样快</translation>
        </message>
        <message>
            <source>at the end of the run</source>
            <translation>运行结束时</translation>
        </message>
        <message>
            <source>of {times}{x} possible</source>
            <translation>可能值为 {times}{x}</translation>
        </message>
        <message>
            <source>{x} possible; timings vary</source>
            <translation>可能值 {x}；计时有波动</translation>
        </message>
        <message>
            <source>not lossless</source>
            <translation>有损</translation>
        </message>
        <message>
            <source>not lossless · {distance} from the target</source>
            <translation>有损 · 与目标相距 {distance}</translation>
        </message>
        <message>
            <source>Total variation between what this rule writes and what the target would, the mean over {n} tested places.</source>
            <translation>此规则所写与目标模型所写之间的全变差，取 {n} 个已检验位置的平均。</translation>
        </message>
        <message>
            <source>Nothing is highlighted since the draft length was 0: the target wrote every token itself.</source>
            <translation>没有高亮，因为草稿长度为 0：每个词元都由目标模型自己写出。</translation>
        </message>
        <message>
            <source>Nothing is highlighted since nothing was drafted: the target wrote every token itself. Choose a draft and run again.</source>
            <translation>没有高亮，因为没有打草稿：每个词元都由目标模型自己写出。请选择草稿模型再运行一次。</translation>
        </message>
        <message>
            <source>Nothing is highlighted since drafting didn't pay: the policy chose length 0 in each of the {n} rounds.</source>
            <translation>没有高亮，因为打草稿不划算：在全部 {n} 轮中策略都选择了长度 0。</translation>
        </message>
        <message>
            <source>Nothing is highlighted since the draft had nothing to propose in any of the {n} rounds.</source>
            <translation>没有高亮，因为在全部 {n} 轮中草稿都没有可提议的。</translation>
        </message>
        <message>
            <source>It ended by itself: the target wrote its end-of-text token.</source>
            <translation>它自行结束：目标模型写出了文本结束词元。</translation>
        </message>
        <message>
            <source>It ended at a stop string.</source>
            <translation>它在停止字符串处结束。</translation>
        </message>
        <message>
            <source>You stopped it here.</source>
            <translation>你在这里停止了它。</translation>
        </message>
        <message>
            <source>{n} tokens of the chat were read before, and weren't read again.</source>
            <translation>对话中有 {n} 个词元之前已读过，没有再读。</translation>
        </message>
        <message>
            <source>It ended at {n} tokens of the {most} asked for: the models read no longer text than that, prompt included.</source>
            <translation>它在要求的 {most} 个词元中写到 {n} 个就结束了：连同提示词，模型最多只能读这么长的文本。</translation>
        </message>
        <message>
            <source>{lane} wrote the same as plain, token for token.</source>
            <translation>{lane} 与普通解码写出的逐词元一致。</translation>
        </message>
        <message>
            <source>Identical: all {n} lanes wrote the same text, token for token.</source>
            <translation>完全相同：{n} 条赛道写出的文本逐词元一致。</translation>
        </message>
        <message>
            <source>Identical: with the draft and without, the text is the same, token for token.</source>
            <translation>完全相同：有草稿与无草稿，文本逐词元一致。</translation>
        </message>
        <message>
            <source>{lane} and plain part at token {n}.</source>
            <translation>{lane} 与普通解码从第 {n} 个词元起不同。</translation>
        </message>
        <message>
            <source>The two texts part at token {n}.</source>
            <translation>两份文本从第 {n} 个词元起不同。</translation>
        </message>
        <message>
            <source>There the target's two likeliest were {margin} apart.</source>
            <translation>在那里，目标模型最可能的两个词元相差 {margin}。</translation>
        </message>
        <message>
            <source>Decoding failed</source>
            <translation>解码失败</translation>
        </message>
        <message>
            <source>No model to decode with yet</source>
            <translation>还没有可用于解码的模型</translation>
        </message>
        <message>
            <source>Open a model</source>
            <translation>打开模型</translation>
        </message>
        <message>
            <source>Open one and compress it: the small copy can then draft for the large one.</source>
            <translation>打开一个模型并压缩它：之后小的副本就能为大的打草稿。</translation>
        </message>
        <message>
            <source>Watch a guess being checked</source>
            <translation>看看一次猜测如何被检验</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>A small model guesses tokens, the large one checks them in one call.</source>
            <translation>小模型猜词元，大模型用一次调用检验它们。</translation>
        </message>
        <message>
            <source>Each token appears here with its fate and the reason.</source>
            <translation>每个词元连同它的结局和原因都显示在这里。</translation>
        </message>
        <message>
            <source>JSON (*.json)</source>
            <translation>JSON (*.json)</translation>
        </message>
        <message>
            <source>Table (*.csv)</source>
            <translation>表格 (*.csv)</translation>
        </message>
        <message>
            <source>Animated picture (*.webp)</source>
            <translation>动画图片 (*.webp)</translation>
        </message>
        <message>
            <source>Export this run</source>
            <translation>导出本次运行</translation>
        </message>
        <message>
            <source>Drawing the picture: {n} %</source>
            <translation>正在绘制图片：{n} %</translation>
        </message>
        <message>
            <source>Exported to {path}.</source>
            <translation>已导出到 {path}。</translation>
        </message>
        <message>
            <source>No run is recorded yet</source>
            <translation>还没有运行记录</translation>
        </message>
        <message>
            <source>Open a recording…</source>
            <translation>打开记录…</translation>
        </message>
        <message>
            <source>Use this run's settings</source>
            <translation>使用本次运行的设置</translation>
        </message>
        <message>
            <source>{draft} for {target}</source>
            <translation>{draft} 为 {target} 打草稿</translation>
        </message>
        <message>
            <source>{target}, plain</source>
            <translation>{target}，普通解码</translation>
        </message>
        <message>
            <source>greedy</source>
            <translation>贪心</translation>
        </message>
        <message>
            <source>temp. {t}</source>
            <translation>温度 {t}</translation>
        </message>
        <message>
            <source>Recorded: {run}.</source>
            <translation>已录制：{run}。</translation>
        </message>
        <message>
            <source>Open a recording</source>
            <translation>打开记录</translation>
        </message>
        <message>
            <source>Recorded runs (*.jsonl)</source>
            <translation>运行记录 (*.jsonl)</translation>
        </message>
    </context>
    <context>
        <name>DeviceChoice</name>
        <message>
            <source>The best one there is</source>
            <translation>现有设备中最好的</translation>
        </message>
        <message>
            <source>CPU</source>
            <translation>CPU</translation>
        </message>
        <message>
            <source>{title}, {free} free</source>
            <translation>{title}，可用 {free}</translation>
        </message>
    </context>
    <context>
        <name>DraftingRow</name>
        <message>
            <source>None (plain)</source>
            <translation>无（普通解码）</translation>
        </message>
        <message>
            <source>Who guesses the next tokens: a small fast model, the target itself in a cheaper form, or a look-up of what followed the same words before.</source>
            <translation>由谁猜接下来的词元：一个又小又快的模型、目标模型自身的廉价形式，或者查找相同词语之前后面跟着什么。</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>草稿</translation>
        </message>
        <message>
            <source>Policy</source>
            <translation>策略</translation>
        </message>
        <message>
            <source>Adaptive</source>
            <translation>自适应</translation>
        </message>
        <message>
            <source>Fixed</source>
            <translation>固定</translation>
        </message>
        <message>
            <source>Adaptive: each round's length is the one that measured costs and acceptance say pays most, or none at all.
</source>
            <translation>自适应：每轮的长度取实测代价与接受率表明最划算的，也可以完全不打草稿。
</translation>
        </message>
        <message>
            <source>Fixed: always the same length.</source>
            <translation>固定：长度始终相同。</translation>
        </message>
        <message>
            <source>Verifier</source>
            <translation>验证方式</translation>
        </message>
        <message>
            <source>Token</source>
            <translation>逐词元</translation>
        </message>
        <message>
            <source>Token by token: each guess is kept with probability min(1, q/p). Lossless.</source>
            <translation>逐词元：每个猜测以概率 min(1, q/p) 保留。无损。</translation>
        </message>
        <message>
            <source>Block</source>
            <translation>整块</translation>
        </message>
        <message>
            <source>The guess is judged as a whole, which keeps some more of it. Lossless.</source>
            <translation>把整个猜测一起评判，能多保留一些。无损。</translation>
        </message>
        <message>
            <source>Tree</source>
            <translation>树</translation>
        </message>
        <message>
            <source>Several candidates at each depth, checked in the same call. Lossless.</source>
            <translation>每一层有若干候选，在同一次调用中检验。无损。</translation>
        </message>
        <message>
            <source>Typical</source>
            <translation>典型接受</translation>
        </message>
        <message>
            <source>Whatever the target finds likely enough is kept. Not lossless: the text isn't the target's own.</source>
            <translation>只要目标模型认为足够可能就保留。有损：文本不再是目标模型自己的。</translation>
        </message>
        <message>
            <source>Top-k</source>
            <translation>Top-k</translation>
        </message>
        <message>
            <source>Whatever is among the target's k likeliest is kept. Not lossless: the text isn't the target's own.</source>
            <translation>只要在目标模型最可能的 k 个之中就保留。有损：文本不再是目标模型自己的。</translation>
        </message>
        <message>
            <source>not lossless</source>
            <translation>有损</translation>
        </message>
        <message>
            <source>What's written isn't distributed as the target's own text. How far off it is, is measured.</source>
            <translation>写出的文本与目标模型自己的文本分布不同。相差多少会被测量出来。</translation>
        </message>
        <message>
            <source>An ONNX export can't draft for itself that way.</source>
            <translation>ONNX 导出不能以这种方式为自己打草稿。</translation>
        </message>
        <message>
            <source>{name}, plain</source>
            <translation>{name}，普通解码</translation>
        </message>
        <message>
            <source>{name} by torch, plain</source>
            <translation>{name}（torch），普通解码</translation>
        </message>
        <message>
            <source>The same model in another form, decoded without a draft in the same race</source>
            <translation>同一模型的另一种形式，在同一场赛跑中不打草稿地解码</translation>
        </message>
        <message>
            <source>N-gram look-up</source>
            <translation>N 元组查找</translation>
        </message>
        <message>
            <source>What followed the same words before. Costs nothing; pays where text repeats.</source>
            <translation>相同词语之前后面跟着什么。没有代价；文本有重复时划算。</translation>
        </message>
        <message>
            <source>Packed copy of the target</source>
            <translation>目标模型的打包副本</translation>
        </message>
        <message>
            <source>The target itself with its weights packed to 8 bits, made in memory at the first run. No training, high acceptance.</source>
            <translation>目标模型自身，权重打包为 8 位，首次运行时在内存中制作。无需训练，接受率高。</translation>
        </message>
        <message>
            <source>Early exit</source>
            <translation>提前退出</translation>
        </message>
        <message>
            <source>The target's own first layers, with its own cache.</source>
            <translation>目标模型自己的前几层，用它自己的缓存。</translation>
        </message>
        <message>
            <source>Layer skip</source>
            <translation>跳层</translation>
        </message>
        <message>
            <source>The target without the layers that your text misses least.</source>
            <translation>目标模型，去掉对你的文本影响最小的那些层。</translation>
        </message>
        <message>
            <source>{name} can't draft for this target. {why}</source>
            <translation>{name} 不能为这个目标模型打草稿。{why}</translation>
        </message>
        <message>
            <source>{name} can't be decoded beside it. {why}</source>
            <translation>{name} 无法与它并行解码。{why}</translation>
        </message>
        <message>
            <source>An ONNX export reads one continuation at a time, so it can't check a tree. Choose another verifier.</source>
            <translation>ONNX 导出一次只读一个续写，因此不能验证草稿树。请选择别的验证方式。</translation>
        </message>
        <message>
            <source>A tree of candidates needs the packed copy, or a draft with the target's own tokens. Choose another verifier.</source>
            <translation>候选树需要打包副本，或与目标模型词元相同的草稿模型。请选择其他验证方式。</translation>
        </message>
        <message>
            <source>The most tokens guessed in a round; how many it really is, is chosen round by round. 0 drafts nothing.</source>
            <translation>一轮中最多猜多少个词元；实际猜多少由每轮决定。0 表示不打草稿。</translation>
        </message>
        <message>
            <source>Draft length: how many tokens are guessed before the target checks them all in one call. 0 drafts nothing.</source>
            <translation>草稿长度：每猜多少个词元，目标模型用一次调用全部检查。0 表示不打草稿。</translation>
        </message>
        <message>
            <source>Most γ</source>
            <translation>最大 γ</translation>
        </message>
        <message>
            <source>Length γ</source>
            <translation>长度 γ</translation>
        </message>
    </context>
    <context>
        <name>DrawDialog</name>
        <message>
            <source>Draw with {name}</source>
            <translation>用 {name} 绘制</translation>
        </message>
        <message>
            <source>onnxruntime draws with the exported files, and torch with the variant that they were made from, of the same noise.</source>
            <translation>onnxruntime 用导出的文件绘制，torch 用它们所来自的变体绘制，由同一噪声开始。</translation>
        </message>
        <message>
            <source>Draw</source>
            <translation>绘制</translation>
        </message>
        <message>
            <source>images</source>
            <translation>张图像</translation>
        </message>
        <message>
            <source>How many images</source>
            <translation>多少幅图像</translation>
        </message>
        <message>
            <source>steps</source>
            <translation>步</translation>
        </message>
        <message>
            <source>Steps that noise is taken off in; more take longer</source>
            <translation>分多少步去噪；越多越久</translation>
        </message>
        <message>
            <source>its own steps</source>
            <translation>它自己的步数</translation>
        </message>
        <message>
            <source>Another seed begins with other noise</source>
            <translation>换一个种子就从别的噪声开始</translation>
        </message>
        <message>
            <source>seed</source>
            <translation>种子</translation>
        </message>
        <message>
            <source>Nothing drawn yet</source>
            <translation>尚未绘制</translation>
        </message>
        <message>
            <source>Press Draw: both begin with the same noise.</source>
            <translation>请按“绘制”：两者由同一噪声开始。</translation>
        </message>
        <message>
            <source>Variant, torch</source>
            <translation>变体，torch</translation>
        </message>
        <message>
            <source>Export, onnxruntime</source>
            <translation>导出，onnxruntime</translation>
        </message>
        <message>
            <source>Milliseconds for an image, drawn together with the others</source>
            <translation>每幅图像的毫秒数，与其他图像一起绘制</translation>
        </message>
        <message>
            <source>ms an image</source>
            <translation>毫秒/图像</translation>
        </message>
        <message>
            <source>Above torch's, below onnxruntime's, in {steps} steps. The largest difference of a pixel is {largest}, of 2.</source>
            <translation>上方为 torch 所画，下方为 onnxruntime 所画，共 {steps} 步。像素的最大差异为 {largest}（范围为 2）。</translation>
        </message>
    </context>
    <context>
        <name>DropZone</name>
        <message>
            <source>Drop a model's folder or a .gguf file here, or choose it:</source>
            <translation>把模型的文件夹或 .gguf 文件拖到这里，或者选择：</translation>
        </message>
        <message>
            <source>Folder …</source>
            <translation>文件夹…</translation>
        </message>
        <message>
            <source>GGUF file …</source>
            <translation>GGUF 文件…</translation>
        </message>
    </context>
    <context>
        <name>EnumerationDialog</name>
        <message>
            <source>How it works</source>
            <translation>工作原理</translation>
        </message>
        <message>
            <source>Two toy models that know a few words write short texts with the real engine, and every random choice is followed to its end. So the probability of each text comes out exactly: choose a rule and see whether it changes them.</source>
            <translation>两个只认识几个词的玩具模型用真正的引擎写短文本，每一个随机选择都被追踪到底。因此每个文本的概率都能精确得出：选择一条规则，看它是否改变这些概率。</translation>
        </message>
        <message>
            <source>Lossless</source>
            <translation>无损</translation>
        </message>
        <message>
            <source>The texts' law is the target's own, whatever the draft is.</source>
            <translation>无论草稿如何，文本的分布都是目标模型自己的。</translation>
        </message>
        <message>
            <source>Not lossless</source>
            <translation>有损</translation>
        </message>
        <message>
            <source>Faster at the price of another law. In use where that's accepted.</source>
            <translation>更快，代价是分布改变。用于可以接受这一点的场合。</translation>
        </message>
        <message>
            <source>Wrong</source>
            <translation>错误</translation>
        </message>
        <message>
            <source>They look right, and each was shipped or proposed. Their law is another one, unnoticed.</source>
            <translation>它们看起来正确，而且每一条都曾被发布或提出。它们的分布不同，却没有被察觉。</translation>
        </message>
        <message>
            <source>Draft length: how many tokens are guessed before the target checks them.</source>
            <translation>草稿长度：目标模型检验之前猜多少个词元。</translation>
        </message>
        <message>
            <source>Length</source>
            <translation>长度</translation>
        </message>
        <message>
            <source>How many tokens are written. The law of the whole text is compared.</source>
            <translation>写多少个词元。比较的是整个文本的分布。</translation>
        </message>
        <message>
            <source>Words</source>
            <translation>词数</translation>
        </message>
        <message>
            <source>How many words the toys know.</source>
            <translation>玩具模型认识多少个词。</translation>
        </message>
        <message>
            <source>Toy</source>
            <translation>玩具</translation>
        </message>
        <message>
            <source>Another number makes another pair of toy models.</source>
            <translation>换一个数就换一对玩具模型。</translation>
        </message>
        <message>
            <source>Total variation: the largest difference in probability that any set of texts can have. 0: the same law. 1: nothing in common.</source>
            <translation>全变差：任一文本集合的概率所能有的最大差别。0：分布相同。1：毫无共同之处。</translation>
        </message>
        <message>
            <source>All texts</source>
            <translation>所有文本</translation>
        </message>
        <message>
            <source>First token</source>
            <translation>首个词元</translation>
        </message>
        <message>
            <source>First round</source>
            <translation>第一轮</translation>
        </message>
        <message>
            <source>Every text that can be written: how likely the target alone makes it, and how likely the engine does.</source>
            <translation>每一个可能写出的文本：目标模型单独写出它的概率，以及引擎写出它的概率。</translation>
        </message>
        <message>
            <source>How the first token's law comes about: what's kept of the guesses, and what corrections add.</source>
            <translation>首个词元的分布如何形成：猜测中保留了什么，更正又补上了什么。</translation>
        </message>
        <message>
            <source>Every course that the first round can take: what's guessed, kept, dropped and added.</source>
            <translation>第一轮可能的每一种过程：猜了什么、保留什么、丢弃什么、添加什么。</translation>
        </message>
        <message>
            <source>Texts: their probability by the target alone and by the engine</source>
            <translation>文本：目标模型单独与引擎给出的概率</translation>
        </message>
        <message>
            <source>target alone</source>
            <translation>仅目标模型</translation>
        </message>
        <message>
            <source>engine</source>
            <translation>引擎</translation>
        </message>
        <message>
            <source>difference</source>
            <translation>差别</translation>
        </message>
        <message>
            <source>Target alone: the product of its next-token probabilities.</source>
            <translation>仅目标模型：它逐个词元概率的乘积。</translation>
        </message>
        <message>
            <source>Engine: the sum over every course of drafts, verdicts and corrections that writes this text.</source>
            <translation>引擎：对写出该文本的草稿、判定与更正的所有过程求和。</translation>
        </message>
        <message>
            <source>Following every choice…</source>
            <translation>正在追踪每一个选择…</translation>
        </message>
        <message>
            <source>The first answer waits for a worker to be ready.</source>
            <translation>第一次回答要等工作进程就绪。</translation>
        </message>
        <message>
            <source>Cancelled.</source>
            <translation>已取消。</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>再试一次</translation>
        </message>
        <message>
            <source>No answer</source>
            <translation>没有回答</translation>
        </message>
        <message>
            <source>After “{prompt}”: {alpha} of the guesses is kept. The {rest} that's dropped comes back in the proportions of q, so words that the draft likes stand above their line, and the others don't reach theirs.</source>
            <translation>在“{prompt}”之后：保留了 {alpha} 的猜测。被丢弃的 {rest} 按 q 的比例补回，因此草稿偏爱的词高出它们的线，其他词够不到自己的线。</translation>
        </message>
        <message>
            <source>After “{prompt}”: {alpha} of the guesses is kept. The {rest} that's dropped comes back as (q − p)⁺, just what's missing below each line, so every word ends at the target's own q.</source>
            <translation>在“{prompt}”之后：保留了 {alpha} 的猜测。被丢弃的 {rest} 以 (q − p)⁺ 补回，正好是每条线下所缺的，因此每个词都落在目标模型自己的 q 上。</translation>
        </message>
        <message>
            <source>{paths} courses of random choices, {texts} texts.</source>
            <translation>{paths} 种随机选择的过程，{texts} 个文本。</translation>
        </message>
        <message>
            <source>Total variation 0: every text is exactly as likely as the target alone makes it.</source>
            <translation>全变差为 0：每个文本的概率都与目标模型单独写出时完全一样。</translation>
        </message>
        <message>
            <source>Whatever the draft guessed, the law of the texts hasn't changed.</source>
            <translation>无论草稿猜了什么，文本的分布都没有改变。</translation>
        </message>
        <message>
            <source>On this toy the rule changes nothing; it isn't lossless all the same. Try another toy.</source>
            <translation>在这个玩具上该规则没有改变任何东西；但它仍然是有损的。请换一个玩具试试。</translation>
        </message>
        <message>
            <source>Total variation {tv}: this isn't the target's law.</source>
            <translation>全变差 {tv}：这不是目标模型的分布。</translation>
        </message>
        <message>
            <source>There are texts that together come {points} percentage points more often than they should.</source>
            <translation>有些文本合起来比应有的多出现 {points} 个百分点。</translation>
        </message>
        <message>
            <source>It ought to be: please report it, with the numbers at the lower left.</source>
            <translation>本应如此：请连同左下角的数字一起报告。</translation>
        </message>
    </context>
    <context>
        <name>ErrorDialog</name>
        <message>
            <source>That didn't work</source>
            <translation>没有成功</translation>
        </message>
        <message>
            <source>Show detail</source>
            <translation>显示详情</translation>
        </message>
        <message>
            <source>Copy report</source>
            <translation>复制报告</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Hide detail</source>
            <translation>隐藏详情</translation>
        </message>
        <message>
            <source>Copied</source>
            <translation>已复制</translation>
        </message>
    </context>
    <context>
        <name>Estimate</name>
        <message>
            <source>Estimated size</source>
            <translation>估计大小</translation>
        </message>
        <message>
            <source>Bytes of the weights, scales included, times eight, over the parameters of the original</source>
            <translation>权重的字节数（含缩放系数）乘以八，再除以原始模型的参数量</translation>
        </message>
        <message>
            <source>From the teacher's measured speed, by layers and by weights read for a token. The student's own is measured later.</source>
            <translation>由教师的实测速度，按层数和每个词元要读的权重推算。学生自己的速度稍后测量。</translation>
        </message>
        <message>
            <source>Working it out</source>
            <translation>正在估算</translation>
        </message>
        <message>
            <source>unknown</source>
            <translation>未知</translation>
        </message>
        <message>
            <source>{bits} bits a weight, all told</source>
            <translation>合计每权重 {bits} 位</translation>
        </message>
        <message>
            <source>about {memory} of memory</source>
            <translation>约 {memory} 内存</translation>
        </message>
        <message>
            <source>time unknown</source>
            <translation>时间未知</translation>
        </message>
        <message>
            <source>under a second</source>
            <translation>不到 1 秒</translation>
        </message>
        <message>
            <source>about {time}</source>
            <translation>约 {time}</translation>
        </message>
        <message>
            <source>Takes {what}.</source>
            <translation>需要{what}。</translation>
        </message>
        <message>
            <source>Predicted speed: unknown, for the teacher's isn't measured yet</source>
            <translation>预计速度：未知，因为尚未测量教师的速度</translation>
        </message>
        <message>
            <source>{gain} at {alpha}</source>
            <translation>α 为 {alpha} 时 {gain}</translation>
        </message>
        <message>
            <source>Predicted speed-up of the two, by the share of drafted tokens that's kept: {gains}</source>
            <translation>两者的预计加速比，按草稿词元被保留的比例：{gains}</translation>
        </message>
        <message>
            <source>Predicted speed: {predicted} tokens/s, {times} the teacher's measured {measured}</source>
            <translation>预计速度：{predicted} 词元/秒，是教师实测 {measured} 的 {times}</translation>
        </message>
    </context>
    <context>
        <name>EvaluateDialog</name>
        <message>
            <source>Measure</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>Measure {name}</source>
            <translation>测量 {name}</translation>
        </message>
    </context>
    <context>
        <name>ExactnessDialog</name>
        <message>
            <source>Check exactness</source>
            <translation>检验精确性</translation>
        </message>
        <message>
            <source>Speculative decoding promises the target's own distribution, whatever the draft guesses. This draws many short texts, and compares how often each came with how often it should by the target alone.</source>
            <translation>推测解码保证：无论草稿猜什么，得到的都是目标模型自己的分布。这里抽取许多短文本，把每个出现的次数与仅由目标模型应有的次数相比较。</translation>
        </message>
        <message>
            <source>Engine</source>
            <translation>引擎</translation>
        </message>
        <message>
            <source>Wrong rule</source>
            <translation>错误规则</translation>
        </message>
        <message>
            <source>What the engine wrote, as the lab is set</source>
            <translation>引擎按实验室的当前设置写出的</translation>
        </message>
        <message>
            <source>What the wrong rule wrote beside it: see how a mistake looks</source>
            <translation>旁边的错误规则写出的：看看错误是什么样子</translation>
        </message>
        <message>
            <source>Check</source>
            <translation>检验</translation>
        </message>
        <message>
            <source>Starts the test (Ctrl+Enter)</source>
            <translation>开始检验（Ctrl+Enter）</translation>
        </message>
        <message>
            <source>At work</source>
            <translation>进行中</translation>
        </message>
        <message>
            <source>Each run draws one text by the engine and one by a wrong rule. The counts appear at the end.</source>
            <translation>每次运行由引擎抽取一个文本，由错误规则抽取一个。计数在结束时显示。</translation>
        </message>
        <message>
            <source>Not checked yet</source>
            <translation>尚未检验</translation>
        </message>
        <message>
            <source>Check starts it. Beside the engine a deliberately wrong rule runs too: if the test didn't catch that one, its word would be worth nothing.</source>
            <translation>点“检验”开始。引擎旁边还运行一条故意错误的规则：如果检验抓不住它，检验的结论就一文不值。</translation>
        </message>
        <message>
            <source>Prompt</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>Prompt: the text to go on from</source>
            <translation>提示词：要接着写下去的文本</translation>
        </message>
        <message>
            <source>The text to go on from; its next tokens are what's tested.</source>
            <translation>要接着写下去的文本；检验的是它接下来的词元。</translation>
        </message>
        <message>
            <source>Tokens</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>The joint law of so many next tokens is tested: two or more, since mistakes hide between one token and the next.</source>
            <translation>检验接下来这么多个词元的联合分布：两个或更多，因为错误藏在前后词元之间。</translation>
        </message>
        <message>
            <source>Top-k</source>
            <translation>Top-k</translation>
        </message>
        <message>
            <source>Only the target's k likeliest tokens may come, so that there are few outcomes and each comes often enough to count.</source>
            <translation>只允许目标模型最可能的 k 个词元出现，这样结果不多，每个都出现得足够多次。</translation>
        </message>
        <message>
            <source>Temp.</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>How freely the target samples. Greedy decoding can't be tested so: it has one outcome.</source>
            <translation>目标模型采样有多自由。贪心解码不能这样检验：它只有一个结果。</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>运行次数</translation>
        </message>
        <message>
            <source>How many texts are drawn. Four times as many see a difference half as large.</source>
            <translation>抽取多少个文本。数量增到四倍，就能看出一半大小的差别。</translation>
        </message>
        <message>
            <source>Total variation: the largest difference in probability that any set of texts can have; 0 means the same law, 1 nothing in common.
The test's power is the chance that it sees a difference which is there.</source>
            <translation>全变差：任一文本集合的概率所能有的最大差别；0 表示分布相同，1 表示毫无共同之处。
检验的功效是它看出确实存在的差别的概率。</translation>
        </message>
        <message>
            <source>The same engine with one mistake: after a dropped guess it draws from the target's whole distribution, where it should draw from what the draft left over. A test that can't see this one sees little.</source>
            <translation>同一个引擎，带一个错误：猜测被丢弃后，它从目标模型的整个分布抽取，而本应从草稿剩下的部分抽取。连这个都看不出的检验，看不出多少东西。</translation>
        </message>
        <message>
            <source>Choose a target in the decode lab first.</source>
            <translation>请先在解码实验室选择目标模型。</translation>
        </message>
        <message>
            <source>Choose a way to draft in the decode lab first: plain decoding has nothing to check.</source>
            <translation>请先在解码实验室选择打草稿的方式：普通解码没有可检验的。</translation>
        </message>
        <message>
            <source>The draft isn't in the workspace any more.</source>
            <translation>草稿模型已不在工作区中。</translation>
        </message>
        <message>
            <source>Write a prompt first.</source>
            <translation>请先写一段提示词。</translation>
        </message>
        <message>
            <source>Check exactness: {name}</source>
            <translation>检验精确性：{name}</translation>
        </message>
        <message>
            <source>n-gram lookup</source>
            <translation>N 元组查找</translation>
        </message>
        <message>
            <source>a packed copy of the target</source>
            <translation>目标模型的打包副本</translation>
        </message>
        <message>
            <source>the target's first layers</source>
            <translation>目标模型的前几层</translation>
        </message>
        <message>
            <source>the target with layers left out</source>
            <translation>略去若干层的目标模型</translation>
        </message>
        <message>
            <source>token by token</source>
            <translation>逐词元</translation>
        </message>
        <message>
            <source>block verification</source>
            <translation>整块验证</translation>
        </message>
        <message>
            <source>a tree of guesses</source>
            <translation>猜测树</translation>
        </message>
        <message>
            <source>typical acceptance (not lossless)</source>
            <translation>典型接受（有损）</translation>
        </message>
        <message>
            <source>top-k acceptance (not lossless)</source>
            <translation>Top-k 接受（有损）</translation>
        </message>
        <message>
            <source>Tested as the lab is set: {drafter} drafts {gamma} tokens for {target}, judged {rule}.</source>
            <translation>按实验室的设置检验：{drafter} 为 {target} 打 {gamma} 个词元的草稿，评判方式为{rule}。</translation>
        </message>
        <message>
            <source>{n} outcomes at most, {each} runs for each</source>
            <translation>最多 {n} 种结果，每种 {each} 次运行</translation>
        </message>
        <message>
            <source>{n} runs in {time}; {accepted} of {tested} guesses were kept.</source>
            <translation>{n} 次运行，用时 {time}；{tested} 个猜测中保留 {accepted} 个。</translation>
        </message>
        <message>
            <source>{n} runs in {time}.</source>
            <translation>{n} 次运行，用时 {time}。</translation>
        </message>
        <message>
            <source>seen (engine)</source>
            <translation>所见（引擎）</translation>
        </message>
        <message>
            <source>seen (wrong rule)</source>
            <translation>所见（错误规则）</translation>
        </message>
        <message>
            <source>Outcomes: how often each was expected and seen</source>
            <translation>各结果：预期次数与所见次数</translation>
        </message>
        <message>
            <source>expected (target alone)</source>
            <translation>预期（仅目标模型）</translation>
        </message>
        <message>
            <source>Expected: runs × the text's probability under the target alone, worked out exactly.</source>
            <translation>预期：运行次数 × 仅由目标模型得出的文本概率，精确算出。</translation>
        </message>
        <message>
            <source>The whisker is two standard deviations: 95 % of honest counts lie within it.</source>
            <translation>须线为两个标准差：95 % 的如实计数落在其中。</translation>
        </message>
        <message>
            <source>At the right: the difference in standard deviations σ. A few beyond 2 come among many; the verdict weighs all.</source>
            <translation>右侧：以标准差 σ 计的差别。数量多时有几个超过 2 很正常；判定综合全部。</translation>
        </message>
        <message>
            <source>{n} rare ones</source>
            <translation>{n} 个罕见的</translation>
        </message>
        <message>
            <source>Each is expected too seldom to be tested alone, so the test counts them as one.</source>
            <translation>每个的预期次数都太少，无法单独检验，因此合并为一项。</translation>
        </message>
        <message>
            <source>impossible</source>
            <translation>不可能</translation>
        </message>
        <message>
            <source>No difference found: {p}, where only less than {level} would speak against the engine.</source>
            <translation>未发现差别：{p}，只有小于 {level} 才对引擎不利。</translation>
        </message>
        <message>
            <source>No difference found here ({p}), though this rule isn't lossless: on this prompt it changes too little to see.</source>
            <translation>此处未发现差别（{p}），尽管该规则有损：在这个提示词上它的改变太小，看不出来。</translation>
        </message>
        <message>
            <source>{n} texts came that the target can't write. Please report it with this prompt.</source>
            <translation>出现了 {n} 个目标模型写不出的文本。请连同此提示词一起报告。</translation>
        </message>
        <message>
            <source>The engine's texts aren't distributed as the target's: {p}, less than {level}. Please report it with this prompt.</source>
            <translation>引擎的文本与目标模型的分布不同：{p}，小于 {level}。请连同此提示词一起报告。</translation>
        </message>
        <message>
            <source>Different from the target's, as was to be expected: {p}. This rule isn't lossless.</source>
            <translation>与目标模型的不同，正如所料：{p}。该规则有损。</translation>
        </message>
        <message>
            <source>What that's worth: a total variation of {tv} or more would be seen nine times in ten.</source>
            <translation>这一结论的分量：{tv} 或更大的全变差，十次中有九次会被看出。</translation>
        </message>
        <message>
            <source>How small a difference would be seen isn't known.</source>
            <translation>能看出多小的差别尚不清楚。</translation>
        </message>
        <message>
            <source>A wrong rule run beside it was caught, so this test can see mistakes: {p}.</source>
            <translation>旁边运行的错误规则被抓住，说明检验能看出错误：{p}。</translation>
        </message>
        <message>
            <source>A wrong rule run beside it wasn't caught ({p}): too few guesses are dropped here for its mistake to show. More runs or another prompt make the test sharper.</source>
            <translation>旁边运行的错误规则没有被抓住（{p}）：这里被丢弃的猜测太少，其错误显不出来。增加运行次数或换一个提示词可使检验更敏锐。</translation>
        </message>
    </context>
    <context>
        <name>ExportReport</name>
        <message>
            <source>Exported {name}</source>
            <translation>已导出 {name}</translation>
        </message>
        <message>
            <source>Exported</source>
            <translation>已导出</translation>
        </message>
        <message>
            <source>Exported and checked</source>
            <translation>已导出并通过检查</translation>
        </message>
        <message>
            <source>Checks</source>
            <translation>检查</translation>
        </message>
        <message>
            <source>passed</source>
            <translation>通过</translation>
        </message>
        <message>
            <source>not passed</source>
            <translation>未通过</translation>
        </message>
        <message>
            <source>Show folder</source>
            <translation>显示文件夹</translation>
        </message>
        <message>
            <source>Look inside</source>
            <translation>查看内部</translation>
        </message>
        <message>
            <source>Compare</source>
            <translation>对比</translation>
        </message>
        <message>
            <source>The original, the variant and the export side by side on your own prompts</source>
            <translation>原模型、变体和导出在你自己的提示词上并排对比</translation>
        </message>
        <message>
            <source>Try it</source>
            <translation>试一试</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>速度</translation>
        </message>
        <message>
            <source>Measure</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>Plain decoding by onnxruntime and by torch, token by token in turns; some seconds</source>
            <translation>由 onnxruntime 和 torch 普通解码，逐词元轮流；需几秒</translation>
        </message>
        <message>
            <source>Measure {folder}</source>
            <translation>测量 {folder}</translation>
        </message>
        <message>
            <source>Measuring …</source>
            <translation>正在测量…</translation>
        </message>
        <message>
            <source>The median over the tokens, each form writing one in turn; prompts aren't counted</source>
            <translation>各形式轮流各写一个，取各词元的中位数；不计提示词</translation>
        </message>
        <message>
            <source>tokens/s</source>
            <translation>词元/秒</translation>
        </message>
        <message>
            <source>Size on disk</source>
            <translation>磁盘大小</translation>
        </message>
        <message>
            <source>File</source>
            <translation>文件</translation>
        </message>
        <message>
            <source>Largest difference in a logit</source>
            <translation>logit 最大差异</translation>
        </message>
        <message>
            <source>Largest difference of an output</source>
            <translation>输出的最大差异</translation>
        </message>
        <message>
            <source>{share} of {n} answers</source>
            <translation>{n} 个回答中的 {share}</translation>
        </message>
        <message>
            <source>{share} of {n} tokens</source>
            <translation>{n} 个词元中的 {share}</translation>
        </message>
        <message>
            <source>Same first choice</source>
            <translation>首选相同</translation>
        </message>
        <message>
            <source>KL divergence from the model</source>
            <translation>与模型的 KL 散度</translation>
        </message>
        <message>
            <source>Took</source>
            <translation>用时</translation>
        </message>
        <message>
            <source>{value} of {limit}</source>
            <translation>{value} / {limit}</translation>
        </message>
        <message>
            <source>{value}, at least {limit}</source>
            <translation>{value}，至少 {limit}</translation>
        </message>
        <message>
            <source>{value}, {limit} allowed</source>
            <translation>{value}，允许 {limit}</translation>
        </message>
    </context>
    <context>
        <name>ExportRow</name>
        <message>
            <source>Checked to: the mean divergence of its probabilities from torch's, in the check's worst text</source>
            <translation>检查结果：在检查所用的最差文本上，其概率与 torch 的平均散度</translation>
        </message>
        <message>
            <source>Checked to: the largest difference of an output from torch's, over the whole check</source>
            <translation>校验到：整个校验中输出与 torch 的最大差异</translation>
        </message>
        <message>
            <source>What to do with this export</source>
            <translation>对这个导出可以做什么</translation>
        </message>
        <message>
            <source>checked to a KL of {figure}</source>
            <translation>校验到 KL {figure}</translation>
        </message>
        <message>
            <source>checked to {figure}</source>
            <translation>校验到 {figure}</translation>
        </message>
        <message>
            <source>Try it…</source>
            <translation>试一试…</translation>
        </message>
        <message>
            <source>Compare with torch…</source>
            <translation>与 torch 对比…</translation>
        </message>
        <message>
            <source>Draw with it…</source>
            <translation>用它绘制…</translation>
        </message>
        <message>
            <source>Try it on texts…</source>
            <translation>在文本上试一试…</translation>
        </message>
        <message>
            <source>Look inside…</source>
            <translation>查看内部…</translation>
        </message>
        <message>
            <source>Show folder</source>
            <translation>显示文件夹</translation>
        </message>
        <message>
            <source>Forget it</source>
            <translation>从列表移除</translation>
        </message>
        <message>
            <source>Takes it from this list; its folder isn't touched</source>
            <translation>把它从列表中移除；不动它的文件夹</translation>
        </message>
    </context>
    <context>
        <name>ExportWizard</name>
        <message>
            <source>Export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Export {name} to ONNX</source>
            <translation>将 {name} 导出为 ONNX</translation>
        </message>
        <message>
            <source>Export {name} to GGUF</source>
            <translation>将 {name} 导出为 GGUF</translation>
        </message>
        <message>
            <source>Pack {name}</source>
            <translation>打包 {name}</translation>
        </message>
    </context>
    <context>
        <name>FileField</name>
        <message>
            <source>Choose …</source>
            <translation>选择…</translation>
        </message>
    </context>
    <context>
        <name>FindDraftDialog</name>
        <message>
            <source>Find a draft</source>
            <translation>寻找草稿</translation>
        </message>
        <message>
            <source>Tries every way to draft for this target on your own prompts, each timed in turns with plain decoding on this machine. A way pays when its guesses are kept often enough for what they cost; where none does, that's said too.</source>
            <translation>用你自己的提示词试遍为该目标模型打草稿的方式，每种都在本机上与普通解码轮流计时。猜测被保留得足够多、抵得上代价，这种方式就划算；若都不划算，也会说明。</translation>
        </message>
        <message>
            <source>No target chosen</source>
            <translation>未选择目标模型</translation>
        </message>
        <message>
            <source>Choose the model whose text it is in the decode lab, then come back: this looks for the draft that speeds it up.</source>
            <translation>请先在解码实验室选择要写出其文本的模型，再回到这里：这里为它寻找能加速的草稿。</translation>
        </message>
        <message>
            <source>Try them</source>
            <translation>试一试</translation>
        </message>
        <message>
            <source>Tries what's ticked, one after another (Ctrl+Enter)</source>
            <translation>逐个尝试勾选的方式（Ctrl+Enter）</translation>
        </message>
        <message>
            <source>Change…</source>
            <translation>更改…</translation>
        </message>
        <message>
            <source>Back to the prompts and the ways to try</source>
            <translation>回到提示词和要尝试的方式</translation>
        </message>
        <message>
            <source>Use this draft</source>
            <translation>使用此草稿</translation>
        </message>
        <message>
            <source>Prompts</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>Add a prompt</source>
            <translation>添加提示词</translation>
        </message>
        <message>
            <source>One more, after a line of three dashes. Several kinds of text give a fairer answer than one.</source>
            <translation>在一行三个短横之后再加一个。多种文本比一种更公允。</translation>
        </message>
        <message>
            <source>What you'd ask this model. A line of three dashes stands between two prompts.</source>
            <translation>你会问这个模型什么。两个提示词之间用一行三个短横隔开。</translation>
        </message>
        <message>
            <source>Which draft pays depends on the text: try those that you'll use it for.</source>
            <translation>哪种草稿划算取决于文本：请用你实际要用的来试。</translation>
        </message>
        <message>
            <source>Ways to try</source>
            <translation>要尝试的方式</translation>
        </message>
        <message>
            <source>greedy</source>
            <translation>贪心</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>How freely the target samples. Guesses are kept more often when it's greedy.</source>
            <translation>目标模型采样有多自由。贪心时猜测更常被保留。</translation>
        </message>
        <message>
            <source>Tokens</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>New tokens for each prompt. More of them: steadier, and slower.</source>
            <translation>每个提示词的新词元数。越多越稳，也越慢。</translation>
        </message>
        <message>
            <source>γ at most</source>
            <translation>γ 最大</translation>
        </message>
        <message>
            <source>The longest draft considered: γ is how many tokens are guessed before the target checks them in one call.</source>
            <translation>考虑的最长草稿：γ 是目标模型用一次调用检验之前猜的词元数。</translation>
        </message>
        <message>
            <source>Repeats</source>
            <translation>重复次数</translation>
        </message>
        <message>
            <source>Each way and plain decoding take turns so many times; the medians are compared.</source>
            <translation>每种方式与普通解码这么多次轮流进行；比较中位数。</translation>
        </message>
        <message>
            <source>Cost against acceptance</source>
            <translation>代价与接受率</translation>
        </message>
        <message>
            <source>Up: guesses are kept more often. Left: a guess costs less. In the tinted field drafting is predicted to be faster than plain decoding, at the length that suits it best; on its edge it's even.
A filled point was faster by the clock, a hollow one wasn't.</source>
            <translation>越靠上：猜测越常被保留。越靠左：猜测越便宜。在着色区域内，预测以最合适的长度打草稿会快于普通解码；在其边缘则持平。
实心点实测更快，空心点则不然。</translation>
        </message>
        <message>
            <source>Nothing measured yet</source>
            <translation>尚无测量</translation>
        </message>
        <message>
            <source>A row appears here as each way has been tried, and a point in the plot.</source>
            <translation>每试完一种方式，这里出现一行，图中出现一个点。</translation>
        </message>
        <message>
            <source>Target: {name}</source>
            <translation>目标：{name}</translation>
        </message>
        <message>
            <source>An ONNX export can't draft for itself that way.</source>
            <translation>ONNX 导出不能以这种方式为自己打草稿。</translation>
        </message>
        <message>
            <source>ONNX export</source>
            <translation>ONNX 导出</translation>
        </message>
        <message>
            <source>What followed the same words earlier. Costs nothing; good where text repeats itself.</source>
            <translation>相同词语之前后面跟着什么。没有代价；文本自我重复时好用。</translation>
        </message>
        <message>
            <source>N-gram lookup</source>
            <translation>N 元语法查找</translation>
        </message>
        <message>
            <source>The target with 8-bit weights, made in memory: nearly its own guesses, for less.</source>
            <translation>权重为 8 位的目标模型，在内存中制作：猜测与它自己几乎一样，代价更低。</translation>
        </message>
        <message>
            <source>Packed copy of the target</source>
            <translation>目标模型的打包副本</translation>
        </message>
        <message>
            <source>The target with some layers left out; which ones is searched on your prompts.</source>
            <translation>略去若干层的目标模型；略去哪些层根据你的提示词搜索。</translation>
        </message>
        <message>
            <source>Layer skip</source>
            <translation>跳层</translation>
        </message>
        <message>
            <source>Early exit</source>
            <translation>提前退出</translation>
        </message>
        <message>
            <source>The target's first layers alone. Rarely pays without training.</source>
            <translation>仅目标模型的前几层。不经训练很少划算。</translation>
        </message>
        <message>
            <source>There's no target to find a draft for.</source>
            <translation>没有要为其寻找草稿的目标模型。</translation>
        </message>
        <message>
            <source>Write a prompt first.</source>
            <translation>请先写一段提示词。</translation>
        </message>
        <message>
            <source>Tick at least one way to try.</source>
            <translation>请至少勾选一种要尝试的方式。</translation>
        </message>
        <message>
            <source>Find a draft for {target}</source>
            <translation>为 {target} 寻找草稿</translation>
        </message>
        <message>
            <source>temperature {t}</source>
            <translation>温度 {t}</translation>
        </message>
        <message>
            <source>1 prompt</source>
            <translation>1 个提示词</translation>
        </message>
        <message>
            <source>{n} prompts</source>
            <translation>{n} 个提示词</translation>
        </message>
        <message>
            <source>{n} tokens each</source>
            <translation>每个 {n} 个词元</translation>
        </message>
        <message>
            <source>γ at most {n}</source>
            <translation>γ 最大 {n}</translation>
        </message>
        <message>
            <source>plain {n} tok/s</source>
            <translation>普通解码 {n} 词元/秒</translation>
        </message>
        <message>
            <source>Edge of the field: break-even, by this target's measured costs.</source>
            <translation>区域边缘：按该目标模型的实测代价，恰好持平。</translation>
        </message>
        <message>
            <source>Edge: break-even, if checking several tokens costs as much as one.</source>
            <translation>边缘：若检验若干词元与检验一个代价相同，恰好持平。</translation>
        </message>
        <message>
            <source>Trying {n} ways…</source>
            <translation>正在尝试 {n} 种方式…</translation>
        </message>
        <message>
            <source>Ahead so far: {name}, {speed}</source>
            <translation>目前领先：{name}，{speed}</translation>
        </message>
        <message>
            <source>{name} pays: {speed} the speed of plain decoding, measured.</source>
            <translation>{name} 划算：实测为普通解码速度的 {speed}。</translation>
        </message>
        <message>
            <source>{name} pays, by {low} to {high} from one repeat to the next: try again while the machine is quiet.</source>
            <translation>{name} 划算，各次重复在 {low} 到 {high} 之间：请在机器空闲时再试。</translation>
        </message>
        <message>
            <source>It ended early: what's below was measured, and the rest wasn't tried.</source>
            <translation>提前结束：下面的已经测得，其余没有尝试。</translation>
        </message>
        <message>
            <source>It ended before anything was measured.</source>
            <translation>在测得任何结果之前就结束了。</translation>
        </message>
        <message>
            <source>None pays for sure: {name} reached {speed}, more than its {n} tokens a target call can give; that's chance.</source>
            <translation>没有一种确定划算：{name} 达到 {speed}，超出每次目标调用 {n} 个词元所能带来的；那是偶然。</translation>
        </message>
        <message>
            <source>None pays for sure: the best, {name}, was between {low} and {high} from one repeat to the next.</source>
            <translation>没有一种确定划算：最好的 {name} 在各次重复中介于 {low} 与 {high} 之间。</translation>
        </message>
        <message>
            <source>None pays on these prompts: the best, {name}, reached {speed}. Decode without a draft.</source>
            <translation>在这些提示词上都不划算：最好的 {name} 达到 {speed}。请不用草稿解码。</translation>
        </message>
        <message>
            <source>None of these ways pays or could be tried; each row says why.</source>
            <translation>这些方式都不划算或无法尝试；各行说明原因。</translation>
        </message>
        <message>
            <source>{name} wasn't tried: {why}</source>
            <translation>{name} 未尝试：{why}</translation>
        </message>
        <message>
            <source>{name}: a guess costs {cost} of a target call, so with every guess kept it could reach {speed}. It wasn't timed.</source>
            <translation>{name}：一次猜测花费目标调用的 {cost}，即使全部保留也只能达到 {speed}。未计时。</translation>
        </message>
        <message>
            <source>{name}, whose guess costs {cost} of a target call, wasn't timed: {why}</source>
            <translation>{name} 的一次猜测花费目标调用的 {cost}，未计时：{why}</translation>
        </message>
        <message>
            <source>{name}: the target keeps {kept} % of its guesses, and a guess costs next to nothing.</source>
            <translation>{name}：目标模型保留其 {kept} % 的猜测，而猜测几乎没有代价。</translation>
        </message>
        <message>
            <source>{name}: the target keeps {kept} % of its guesses, and a guess costs {cost} of a target call.</source>
            <translation>{name}：目标模型保留其 {kept} % 的猜测，一次猜测花费目标调用的 {cost}。</translation>
        </message>
        <message>
            <source>No draft length is predicted to pay; γ = {gamma} comes nearest, {speed}.</source>
            <translation>预测没有哪个草稿长度划算；γ = {gamma} 最接近，{speed}。</translation>
        </message>
        <message>
            <source>γ = {gamma} is predicted to pay most, {speed}.</source>
            <translation>预测 γ = {gamma} 最划算，{speed}。</translation>
        </message>
        <message>
            <source>By the clock: {speed}.</source>
            <translation>实测：{speed}。</translation>
        </message>
        <message>
            <source>By the clock: {speed}, slower than without.</source>
            <translation>实测：{speed}，比不用草稿慢。</translation>
        </message>
        <message>
            <source>By the clock: {speed} in the middle, {low} to {high} from one repeat to the next.</source>
            <translation>实测：中位 {speed}，各次重复在 {low} 到 {high} 之间。</translation>
        </message>
        <message>
            <source>The repeats differ much ({low} to {high}): other work on this machine disturbs the clock.</source>
            <translation>各次重复相差很大（{low} 到 {high}）：本机上的其他工作干扰了计时。</translation>
        </message>
        <message>
            <source>{n} tokens a target call.</source>
            <translation>每次目标调用 {n} 个词元。</translation>
        </message>
        <message>
            <source>{size} of memory besides the target's.</source>
            <translation>除目标模型外占用内存 {size}。</translation>
        </message>
        <message>
            <source>Acceptance α</source>
            <translation>接受率 α</translation>
        </message>
        <message>
            <source>Cost c</source>
            <translation>代价 c</translation>
        </message>
        <message>
            <source>Predicted</source>
            <translation>预测</translation>
        </message>
        <message>
            <source>Measured</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>faster than plain</source>
            <translation>快于普通解码</translation>
        </message>
        <message>
            <source>not faster than plain</source>
            <translation>不快于普通解码</translation>
        </message>
        <message>
            <source>sometimes faster than plain, sometimes slower</source>
            <translation>时而快于普通解码，时而慢于</translation>
        </message>
        <message>
            <source>Takes it up in the decode lab</source>
            <translation>在解码实验室中采用它</translation>
        </message>
        <message>
            <source>Use it all the same</source>
            <translation>仍然使用</translation>
        </message>
        <message>
            <source>Choose a row first.</source>
            <translation>请先选择一行。</translation>
        </message>
        <message>
            <source>It wasn't timed, for the reason in its row.</source>
            <translation>未计时，原因见该行。</translation>
        </message>
        <message>
            <source>It isn't in the workspace any more.</source>
            <translation>它已不在工作区中。</translation>
        </message>
        <message>
            <source>The decode lab drafts with {name} now.</source>
            <translation>解码实验室现在用 {name} 打草稿。</translation>
        </message>
    </context>
    <context>
        <name>FloatBox</name>
        <message>
            <source>not set</source>
            <translation>未设置</translation>
        </message>
    </context>
    <context>
        <name>FolderPage</name>
        <message>
            <source>Folder</source>
            <translation>文件夹</translation>
        </message>
        <message>
            <source>Where to?</source>
            <translation>存到哪里？</translation>
        </message>
        <message>
            <source>The folder appears only when the export is whole and checked.</source>
            <translation>只有导出完整且通过检查后，文件夹才会出现。</translation>
        </message>
        <message>
            <source>Packed</source>
            <translation>打包</translation>
        </message>
        <message>
            <source>For onnxruntime and what's built on it; encoders and classifiers too</source>
            <translation>用于 onnxruntime 及基于它的程序；也支持编码器和分类器</translation>
        </message>
        <message>
            <source>For llama.cpp and what's built on it; decoders like Llama, Qwen and Gemma</source>
            <translation>用于 llama.cpp 及基于它的程序；支持 Llama、Qwen、Gemma 等解码器</translation>
        </message>
        <message>
            <source>For keeping and sending a pruned model: one file without its zeros, from which the folder is restored bit for bit</source>
            <translation>用于保存和发送剪枝后的模型：一个不含零的文件，可由它逐位还原整个文件夹</translation>
        </message>
        <message>
            <source>As it is: its own grid, or q8_0</source>
            <translation>保持原样：自身的网格，否则 q8_0</translation>
        </message>
        <message>
            <source>f32: exact, four bytes a weight</source>
            <translation>f32：精确，每权重四字节</translation>
        </message>
        <message>
            <source>f16: half precision</source>
            <translation>f16：半精度</translation>
        </message>
        <message>
            <source>bf16: half the size, float32's range</source>
            <translation>bf16：大小减半，范围与 float32 相同</translation>
        </message>
        <message>
            <source>q8_0: 8 bits, hardly a loss</source>
            <translation>q8_0：8 位，几乎没有损失</translation>
        </message>
        <message>
            <source>q4_0: 4 bits, in groups of 32</source>
            <translation>q4_0：4 位，每组 32 个</translation>
        </message>
        <message>
            <source>q4_k: 4 bits with offsets, better at the same size</source>
            <translation>q4_k：带偏移的 4 位，同样大小下更好</translation>
        </message>
        <message>
            <source>What the weights of a GGUF file are stored in; with 4 bits, embedding and head get 8</source>
            <translation>GGUF 文件中权重的存储类型；用 4 位时，嵌入和输出头为 8 位</translation>
        </message>
        <message>
            <source>Portable: batches and padding</source>
            <translation>通用：支持批次和填充</translation>
        </message>
        <message>
            <source>Fast: one text at a time</source>
            <translation>快速：一次一段文本</translation>
        </message>
        <message>
            <source>Fast graphs are made of onnxruntime's own fused operators; portable ones take several texts at once</source>
            <translation>快速图由 onnxruntime 自带的融合算子构成；通用图可同时处理多段文本</translation>
        </message>
        <message>
            <source>Exact products</source>
            <translation>精确乘积</translation>
        </message>
        <message>
            <source>Rounded products, faster</source>
            <translation>舍入乘积，更快</translation>
        </message>
        <message>
            <source>Rounded: quantized layers round what comes in to int8, where the check finds that close enough; exact ones don't</source>
            <translation>舍入：量化层把输入舍入为 int8，前提是检查认为足够接近；精确则不舍入</translation>
        </message>
        <message>
            <source>Plain folder</source>
            <translation>普通文件夹</translation>
        </message>
        <message>
            <source>For Transformers.js</source>
            <translation>供 Transformers.js 用</translation>
        </message>
        <message>
            <source>For Transformers.js: the graph in the folder 'onnx', under the name that this library has for its precision</source>
            <translation>供 Transformers.js 用：计算图放在“onnx”文件夹中，以该库对其精度的名称命名</translation>
        </message>
        <message>
            <source>Any recent onnxruntime</source>
            <translation>任何较新的 onnxruntime</translation>
        </message>
        <message>
            <source>onnxruntime {release} or later</source>
            <translation>onnxruntime {release} 或更新</translation>
        </message>
        <message>
            <source>The oldest onnxruntime that is to open the file. Where the graph's operators came later, the export says so</source>
            <translation>要能打开文件的最旧的 onnxruntime。若计算图的算子是后来才有的，导出时会说明</translation>
        </message>
        <message>
            <source>float32 is exact. float16: half the size, rounded; numbers beyond 65,504 don't fit and are looked for. int8: weights and what they're multiplied by, in whole numbers; fixed ranges are found on a text beforehand. bfloat16 isn't offered: onnxruntime computes nothing in it on a processor.</source>
            <translation>float32 是精确的。float16：大小减半，有舍入；超过 65,504 的数放不下，会事先检查。int8：权重及与之相乘的数都用整数；固定范围事先在一段文本上找出。不提供 bfloat16：onnxruntime 在处理器上不用它计算。</translation>
        </message>
        <message>
            <source>The starter's training text</source>
            <translation>入门模型的训练文本</translation>
        </message>
        <message>
            <source>Text that the ranges are found on</source>
            <translation>用来找出范围的文本</translation>
        </message>
        <message>
            <source>Choose a folder</source>
            <translation>选择文件夹</translation>
        </message>
        <message>
            <source>Replace what's in the folder</source>
            <translation>替换文件夹中已有的内容</translation>
        </message>
        <message>
            <source>What will be written</source>
            <translation>将会写入</translation>
        </message>
        <message>
            <source>float32: exact</source>
            <translation>float32：精确</translation>
        </message>
        <message>
            <source>float16: half the size</source>
            <translation>float16：大小减半</translation>
        </message>
        <message>
            <source>int8, ranges as they come</source>
            <translation>int8，范围随输入而定</translation>
        </message>
        <message>
            <source>int8, fixed ranges</source>
            <translation>int8，固定范围</translation>
        </message>
    </context>
    <context>
        <name>Form</name>
        <message>
            <source>More settings</source>
            <translation>更多设置</translation>
        </message>
        <message>
            <source>{knob}: {problem}</source>
            <translation>{knob}：{problem}</translation>
        </message>
        <message>
            <source>This variant is gone.</source>
            <translation>这个变体已经不在了。</translation>
        </message>
        <message>
            <source>There is no such file.</source>
            <translation>没有这个文件。</translation>
        </message>
        <message>
            <source>must be less than {limit}.</source>
            <translation>必须小于 {limit}。</translation>
        </message>
        <message>
            <source>must be at most {limit}.</source>
            <translation>最大为 {limit}。</translation>
        </message>
        <message>
            <source>must be more than {limit}.</source>
            <translation>必须大于 {limit}。</translation>
        </message>
        <message>
            <source>must be at least {limit}.</source>
            <translation>至少为 {limit}。</translation>
        </message>
        <message>
            <source>choose a variant.</source>
            <translation>请选择一个变体。</translation>
        </message>
        <message>
            <source>choose a file.</source>
            <translation>请选择一个文件。</translation>
        </message>
        <message>
            <source>choose one.</source>
            <translation>请选择一项。</translation>
        </message>
        <message>
            <source>fill this in.</source>
            <translation>请填写。</translation>
        </message>
        <message>
            <source>It's the model itself.</source>
            <translation>就是这个模型本身。</translation>
        </message>
        <message>
            <source>It's another kind of model.</source>
            <translation>它是另一类模型。</translation>
        </message>
        <message>
            <source>Its tokenizer has other tokens.</source>
            <translation>它的分词器的词元不同。</translation>
        </message>
        <message>
            <source>Fewer settings</source>
            <translation>收起设置</translation>
        </message>
    </context>
    <context>
        <name>FrontPlot</name>
        <message>
            <source>Sum of KLs by size</source>
            <translation>各大小下的 KL 之和</translation>
        </message>
        <message>
            <source>The least sum of KLs at each size, and the choice that's shown (dot). Both are estimates.</source>
            <translation>每个大小下最小的 KL 之和，以及当前显示的选择（圆点）。两者都是估计值。</translation>
        </message>
    </context>
    <context>
        <name>GradientChart</name>
        <message>
            <source>Loss of each choice</source>
            <translation>每种选择的损失</translation>
        </message>
        <message>
            <source>Loss on text kept aside</source>
            <translation>预留文本上的损失</translation>
        </message>
        <message>
            <source>Loss</source>
            <translation>损失</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>步数</translation>
        </message>
        <message>
            <source>Bits of a gradient</source>
            <translation>每个梯度的位数</translation>
        </message>
        <message>
            <source>Megabytes sent in a run</source>
            <translation>一次训练所传送的兆字节数</translation>
        </message>
    </context>
    <context>
        <name>GradientModel</name>
        <message>
            <source>Gradients</source>
            <translation>梯度</translation>
        </message>
        <message>
            <source>How they're sent.</source>
            <translation>梯度的传送方式。</translation>
        </message>
        <message>
            <source>Loss</source>
            <translation>损失</translation>
        </message>
        <message>
            <source>On text kept aside, nats a token, the lowest of a run: mean over the seeds, and its standard error.</source>
            <translation>预留文本上的损失，每词元纳特，取一次训练中的最低值：各种子的均值及其标准误差。</translation>
        </message>
        <message>
            <source>Against float32</source>
            <translation>相对 float32</translation>
        </message>
        <message>
            <source>Difference of the losses of runs with the same seed: mean and half of its 95 % interval. ≈: alike, within 2 % of what float32 gains by training. ▼: worse, ▲: better, by more than the seeds differ. ?: more seeds would tell.</source>
            <translation>相同种子的训练之间损失之差：均值和 95 % 区间的一半。≈：相当，差异在 float32 训练所得的 2 % 以内。▼：更差，▲：更好，差异超过种子之间的差异。?：需要更多种子才能判断。</translation>
        </message>
        <message>
            <source>Perplexity</source>
            <translation>困惑度</translation>
        </message>
        <message>
            <source>e to the power of the loss.</source>
            <translation>e 的损失次幂。</translation>
        </message>
        <message>
            <source>Sent</source>
            <translation>传送量</translation>
        </message>
        <message>
            <source>All gradients of a run, scales counted.</source>
            <translation>一次训练的全部梯度，含缩放系数。</translation>
        </message>
        <message>
            <source>Of float32</source>
            <translation>占 float32</translation>
        </message>
        <message>
            <source>Those bytes as a share of what float32 takes.</source>
            <translation>这些字节占 float32 所需的比例。</translation>
        </message>
        <message>
            <source>Error</source>
            <translation>误差</translation>
        </message>
        <message>
            <source>Of a gradient as it arrives: |change| / |gradient|, the mean over the steps.</source>
            <translation>梯度到达时的误差：|变化| / |梯度|，各步的均值。</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Of a run, with this machine's other work in it.</source>
            <translation>一次训练所用的时间，含这台机器上其他工作的影响。</translation>
        </message>
    </context>
    <context>
        <name>GradientStudyDialog</name>
        <message>
            <source>Gradients in fewer bits</source>
            <translation>用更少的位数传送梯度</translation>
        </message>
        <message>
            <source>Machines that train together send each other every gradient at each step. The same training runs once for each way of sending them, and shows what fewer bits cost in loss and save in bytes. The variant stays as it is.</source>
            <translation>协同训练的机器在每一步都把每个梯度传给彼此。同样的训练以每种传送方式各进行一次，显示减少位数要付出多少损失、节省多少字节。变体保持不变。</translation>
        </message>
        <message>
            <source>Choose a variant that generates text and isn't quantized.</source>
            <translation>请选择一个生成文本且未量化的变体。</translation>
        </message>
        <message>
            <source>The variant isn't here</source>
            <translation>变体不在这里</translation>
        </message>
        <message>
            <source>Train</source>
            <translation>训练</translation>
        </message>
        <message>
            <source>Trains once for each choice and seed (Ctrl+Enter)</source>
            <translation>每种选择、每个种子各训练一次（Ctrl+Enter）</translation>
        </message>
        <message>
            <source>Copy table</source>
            <translation>复制表格</translation>
        </message>
        <message>
            <source>The figures as tab-separated text</source>
            <translation>以制表符分隔的文本形式给出数值</translation>
        </message>
        <message>
            <source>Study again…</source>
            <translation>再次研究…</translation>
        </message>
        <message>
            <source>With other choices, steps or text</source>
            <translation>用其他选择、步数或文本</translation>
        </message>
        <message>
            <source>Ways to send gradients</source>
            <translation>传送梯度的方式</translation>
        </message>
        <message>
            <source>Rounded at random to so many bits, so that the mean stays right; error feedback adds to each gradient what rounding took from the last one. float32 is always tried, to compare with.</source>
            <translation>随机舍入到给定位数，使均值保持正确；误差反馈把上一次舍入所去掉的部分加到每个梯度上。float32 总会尝试，以作比较。</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>The starter's training text</source>
            <translation>入门模型的训练文本</translation>
        </message>
        <message>
            <source>The training</source>
            <translation>训练</translation>
        </message>
        <message>
            <source>Begin with random weights</source>
            <translation>从随机权重开始</translation>
        </message>
        <message>
            <source>Of the same spread as the variant's: then there is much to learn, and differences show sooner.</source>
            <translation>分布范围与变体的权重相同：这样要学的很多，差异更早显现。</translation>
        </message>
        <message>
            <source>A scale a tensor</source>
            <translation>每张量一个缩放系数</translation>
        </message>
        <message>
            <source>… with feedback</source>
            <translation>…并用误差反馈</translation>
        </message>
        <message>
            <source>A scale a row</source>
            <translation>每行一个缩放系数</translation>
        </message>
        <message>
            <source>{n} bits</source>
            <translation>{n} 位</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>步数</translation>
        </message>
        <message>
            <source>Updates of the weights in each run</source>
            <translation>每次训练中权重更新的次数</translation>
        </message>
        <message>
            <source>Seeds</source>
            <translation>种子数</translation>
        </message>
        <message>
            <source>Runs a choice. With two or more, what's noise can be told.</source>
            <translation>每种选择训练的次数。有两次或更多才能看出哪些是噪声。</translation>
        </message>
        <message>
            <source>Batch</source>
            <translation>批次</translation>
        </message>
        <message>
            <source>Windows of text a step</source>
            <translation>每步的文本窗口数</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <source>Tokens a window</source>
            <translation>每个窗口的词元数</translation>
        </message>
        <message>
            <source>Learning rate</source>
            <translation>学习率</translation>
        </message>
        <message>
            <source>Size of the updates at their largest</source>
            <translation>更新幅度的最大值</translation>
        </message>
        <message>
            <source>Bits</source>
            <translation>位数</translation>
        </message>
        <message>
            <source>Bytes sent</source>
            <translation>传送的字节数</translation>
        </message>
        <message>
            <source>Loss on text kept aside as the first seed of each choice trains</source>
            <translation>各选择的第一个种子训练时，预留文本上的损失</translation>
        </message>
        <message>
            <source>The lowest loss that each choice came to, by its bits; bars: standard error over the seeds</source>
            <translation>各选择所达到的最低损失，按位数排列；误差线：各种子的标准误差</translation>
        </message>
        <message>
            <source>The same by the bytes that all gradients of a run take</source>
            <translation>同样的损失，按一次训练的全部梯度所占的字节数排列</translation>
        </message>
        <message>
            <source>Loss</source>
            <translation>损失</translation>
        </message>
        <message>
            <source>Against float32</source>
            <translation>相对 float32</translation>
        </message>
        <message>
            <source>Perplexity</source>
            <translation>困惑度</translation>
        </message>
        <message>
            <source>Sent</source>
            <translation>传送量</translation>
        </message>
        <message>
            <source>Error of a gradient</source>
            <translation>梯度的误差</translation>
        </message>
        <message>
            <source>{n} of {all} runs</source>
            <translation>{n} / {all} 次训练</translation>
        </message>
        <message>
            <source>The variant isn't in the workspace any more.</source>
            <translation>该变体已不在工作区中。</translation>
        </message>
        <message>
            <source>Its weights are packed, so it can't be trained. Choose the variant that it came from.</source>
            <translation>它的权重是打包的，因此无法训练。请选择它的来源变体。</translation>
        </message>
        <message>
            <source>It doesn't generate text, so there is no next token to learn.</source>
            <translation>它不生成文本，因此没有可学的下一个词元。</translation>
        </message>
        <message>
            <source>Choose at least one way to send gradients.</source>
            <translation>请至少选择一种传送梯度的方式。</translation>
        </message>
        <message>
            <source>The model holds {n} tokens: choose a shorter context.</source>
            <translation>该模型最多容纳 {n} 个词元：请选择更短的上下文。</translation>
        </message>
        <message>
            <source>Choose a text file.</source>
            <translation>请选择一个文本文件。</translation>
        </message>
        <message>
            <source>Gradients of {name}</source>
            <translation>{name} 的梯度</translation>
        </message>
        <message>
            <source>Loss before training: {loss}.</source>
            <translation>训练前的损失：{loss}。</translation>
        </message>
        <message>
            <source>No run got below it, so the choices can't be told apart: train longer, or begin with random weights.</source>
            <translation>没有一次训练低于它，因此无法区分各选项：请训练更久，或从随机权重开始。</translation>
        </message>
        <message>
            <source>One run a choice: whether a difference is more than noise needs more seeds.</source>
            <translation>每种选择只训练了一次：差异是否超出噪声，需要更多种子才能判断。</translation>
        </message>
        <message>
            <source>As good as float32, within 2 % of what it gains by training: {count} of {all}; the fewest bytes of them: {name}, {share}.</source>
            <translation>与 float32 一样好（差异在其训练所得的 2 % 以内）：{all} 种中有 {count} 种；其中字节最少的是 {name}，{share}。</translation>
        </message>
        <message>
            <source>None is surely as good as float32, within 2 % of what it gains by training.</source>
            <translation>没有哪种能确定与 float32 一样好（差异在其训练所得的 2 % 以内）。</translation>
        </message>
        <message>
            <source>Not clear yet: {n}. More seeds would tell.</source>
            <translation>尚不明确：{n}。更多种子才能判断。</translation>
        </message>
        <message>
            <source>The table is on the clipboard.</source>
            <translation>表格已复制到剪贴板。</translation>
        </message>
        <message>
            <source>{runs} runs of {steps} steps, {tokens} tokens each; the lowest loss on the end of the text, kept aside, counts.</source>
            <translation>{runs} 次训练，每次 {steps} 步、{tokens} 个词元；以预留的文本末尾上的最低损失为准。</translation>
        </message>
    </context>
    <context>
        <name>GradientTable</name>
        <message>
            <source>Ways to send gradients</source>
            <translation>传送梯度的方式</translation>
        </message>
    </context>
    <context>
        <name>HeadsCurve</name>
        <message>
            <source>What's left as heads go</source>
            <translation>去掉注意力头后剩余的效果</translation>
        </message>
        <message>
            <source>Perplexity</source>
            <translation>困惑度</translation>
        </message>
        <message>
            <source>Accuracy</source>
            <translation>准确率</translation>
        </message>
        <message>
            <source>Cosine</source>
            <translation>余弦</translation>
        </message>
        <message>
            <source>predicted</source>
            <translation>预测</translation>
        </message>
    </context>
    <context>
        <name>HeadsDialog</name>
        <message>
            <source>Attention heads</source>
            <translation>注意力头</translation>
        </message>
        <message>
            <source>What each head is worth to the loss; heads that share keys and values are one group. Switch them off on the map, see what that's predicted to cost, measure it, and make the variant without them.</source>
            <translation>每个注意力头对损失有多重要；共用键和值的头算作一组。可在图上关闭它们，查看预计的代价，实际测量，再制作去掉它们的变体。</translation>
        </message>
        <message>
            <source>Gradient (Taylor)</source>
            <translation>梯度 (Taylor)</translation>
        </message>
        <message>
            <source>Gradient, within each layer</source>
            <translation>梯度，逐层内比较</translation>
        </message>
        <message>
            <source>Size of the weights</source>
            <translation>权重大小</translation>
        </message>
        <message>
            <source>Chance</source>
            <translation>随机</translation>
        </message>
        <message>
            <source>Leaving each out</source>
            <translation>逐个略去</translation>
        </message>
        <message>
            <source>The variant isn't here</source>
            <translation>变体不在这里</translation>
        </message>
        <message>
            <source>Choose a variant that isn't quantized.</source>
            <translation>请选择一个未量化的变体。</translation>
        </message>
        <message>
            <source>Judge</source>
            <translation>评判</translation>
        </message>
        <message>
            <source>One pass forward and backward over the text (Ctrl+Enter)</source>
            <translation>在文本上前向和反向各一遍（Ctrl+Enter）</translation>
        </message>
        <message>
            <source>Judge again…</source>
            <translation>重新评判…</translation>
        </message>
        <message>
            <source>On another text, or on more of it</source>
            <translation>用另一份文本，或用更多文本</translation>
        </message>
        <message>
            <source>Measure</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>Cut these</source>
            <translation>削减这些</translation>
        </message>
        <message>
            <source>What to judge on</source>
            <translation>用什么评判</translation>
        </message>
        <message>
            <source> tokens</source>
            <translation> 个词元</translation>
        </message>
        <message>
            <source>Windows</source>
            <translation>窗口数</translation>
        </message>
        <message>
            <source>Of the text, drawn from all over it. More are steadier and take longer.</source>
            <translation>从文本各处抽取的窗口数。越多越稳定，耗时也越长。</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <source>Tokens a window.</source>
            <translation>每个窗口的词元数。</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>The starter's training text</source>
            <translation>入门模型的训练文本</translation>
        </message>
        <message>
            <source>A classifier is judged on the examples that it learnt from, and measured on those kept aside.</source>
            <translation>分类器用它学习过的样例评判，用预留的样例测量。</translation>
        </message>
        <message>
            <source>Draw the curve</source>
            <translation>绘制曲线</translation>
        </message>
        <message>
            <source>Takes them out one after the other, the least important first, and measures what's left</source>
            <translation>从最不重要的开始逐个去掉，并测量剩余的效果</translation>
        </message>
        <message>
            <source>Drawn as it's measured: another criterion adds its own line.</source>
            <translation>边测量边绘制：换一种准则会另加一条线。</translation>
        </message>
        <message>
            <source>The variant isn't in the workspace any more.</source>
            <translation>该变体已不在工作区中。</translation>
        </message>
        <message>
            <source>It's quantized already. Choose the variant that it came from.</source>
            <translation>它已经量化过了。请选择它的来源变体。</translation>
        </message>
        <message>
            <source>It isn't known what it's for, so there is no loss to judge heads by.</source>
            <translation>不知道它的用途，因此没有损失可用来评判注意力头。</translation>
        </message>
        <message>
            <source>Choose a text file.</source>
            <translation>请选择一个文本文件。</translation>
        </message>
        <message>
            <source>Heads of {name}</source>
            <translation>{name} 的注意力头</translation>
        </message>
        <message>
            <source>Leaving out each head of {name}</source>
            <translation>逐个略去 {name} 的注意力头</translation>
        </message>
        <message>
            <source>{name} without some heads</source>
            <translation>{name}，去掉部分注意力头</translation>
        </message>
        <message>
            <source>Heads of {name}, one after the other</source>
            <translation>{name} 的注意力头，逐个去掉</translation>
        </message>
        <message>
            <source>Perplexity as they go</source>
            <translation>逐个去掉时的困惑度</translation>
        </message>
        <message>
            <source>Accuracy as they go</source>
            <translation>逐个去掉时的准确率</translation>
        </message>
        <message>
            <source>Agreement of the outputs as they go</source>
            <translation>逐个去掉时输出的一致程度</translation>
        </message>
        <message>
            <source>Groups removed</source>
            <translation>去掉的组数</translation>
        </message>
        <message>
            <source>Heads removed</source>
            <translation>去掉的头数</translation>
        </message>
        <message>
            <source>Measures the loss without those that are off, on text that nothing was judged on</source>
            <translation>在未用于评判的文本上，测量去掉已关闭部分后的损失</translation>
        </message>
        <message>
            <source>Switch some off first</source>
            <translation>请先关闭一些</translation>
        </message>
        <message>
            <source>Zero these</source>
            <translation>将这些置零</translation>
        </message>
        <message>
            <source>Starts the job that makes this variant</source>
            <translation>开始制作该变体的任务</translation>
        </message>
        <message>
            <source>{name}, from {source}</source>
            <translation>{name}，源自 {source}</translation>
        </message>
        <message>
            <source>Started: {name}. Its progress is in the list of jobs.</source>
            <translation>已开始：{name}。进度见任务列表。</translation>
        </message>
    </context>
    <context>
        <name>HeadsMap</name>
        <message>
            <source>Importance by</source>
            <translation>重要性依据</translation>
        </message>
        <message>
            <source>What each is worth, judged by this</source>
            <translation>按此评判各自的重要性</translation>
        </message>
        <message>
            <source>Leave each out…</source>
            <translation>逐个略去…</translation>
        </message>
        <message>
            <source>Heads by layer: what each is worth</source>
            <translation>各层的注意力头：各自的重要性</translation>
        </message>
        <message>
            <source>Layer</source>
            <translation>层</translation>
        </message>
        <message>
            <source>Group {n}</source>
            <translation>第 {n} 组</translation>
        </message>
        <message>
            <source>Head {n}</source>
            <translation>第 {n} 头</translation>
        </message>
        <message>
            <source>Layer {layer}, group {group} (heads {first} to {last})</source>
            <translation>第 {layer} 层，第 {group} 组（头 {first} 至 {last}）</translation>
        </message>
        <message>
            <source>Layer {layer}, head {head}</source>
            <translation>第 {layer} 层，第 {head} 头</translation>
        </message>
        <message>
            <source>{where}: not measured</source>
            <translation>{where}：未测量</translation>
        </message>
        <message>
            <source>{where}: {value}, rank {rank} of {total} from the least important</source>
            <translation>{where}：{value}，从最不重要起排第 {rank}，共 {total}</translation>
        </message>
        <message>
            <source>{where}: {value} nats, rank {rank} of {total} from the least important</source>
            <translation>{where}：{value} 纳特，从最不重要起排第 {rank}，共 {total}</translation>
        </message>
        <message>
            <source>off</source>
            <translation>关</translation>
        </message>
        <message>
            <source>Click or press the space bar to switch off and on, draw over several, L for the whole layer, Delete for all on.</source>
            <translation>单击或按空格键切换开关，拖过多个可一并切换，L 切换整层，Delete 全部打开。</translation>
        </message>
        <message>
            <source>Measures the loss without each one alone, {n} of them, which takes long. It may be cancelled, and goes on from there.</source>
            <translation>逐个测量单独去掉它时的损失，共 {n} 个，耗时很长。可以取消，之后从那里继续。</translation>
        </message>
        <message>
            <source>Switch on</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>Switch off</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Switch the whole layer {n}</source>
            <translation>切换整个第 {n} 层</translation>
        </message>
        <message>
            <source>Switch off all that are worth no more ({n})</source>
            <translation>关闭所有不比它重要的（{n} 个）</translation>
        </message>
    </context>
    <context>
        <name>HeadsSide</name>
        <message>
            <source>Switched off</source>
            <translation>已关闭</translation>
        </message>
        <message>
            <source>Undo</source>
            <translation>撤销</translation>
        </message>
        <message>
            <source>Takes the last change back (Ctrl+Z)</source>
            <translation>撤回上一次改动（Ctrl+Z）</translation>
        </message>
        <message>
            <source>All on</source>
            <translation>全部打开</translation>
        </message>
        <message>
            <source>The least important</source>
            <translation>最不重要的</translation>
        </message>
        <message>
            <source>Wherever</source>
            <translation>不分层</translation>
        </message>
        <message>
            <source>Each layer</source>
            <translation>每一层</translation>
        </message>
        <message>
            <source>Of the whole model: gentler, but such heads can only become zeros</source>
            <translation>在整个模型中选取：影响更轻，但这些头只能置零</translation>
        </message>
        <message>
            <source>As many of each layer: these can be cut out, and the file gets smaller</source>
            <translation>每层去掉同样多：可以真正削去，文件变小</translation>
        </message>
        <message>
            <source>How many of the least important are off</source>
            <translation>关闭多少个最不重要的</translation>
        </message>
        <message>
            <source>Loss</source>
            <translation>损失</translation>
        </message>
        <message>
            <source>Predicted, estimate</source>
            <translation>预测（估计）</translation>
        </message>
        <message>
            <source>… by leaving out</source>
            <translation>…按逐个略去</translation>
        </message>
        <message>
            <source>Measured</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>Sum of what each is worth by the gradient, sizes without signs: mostly too high, and most useful to compare choices with</source>
            <translation>按梯度得出的各自重要性之和，只计大小不计正负：大多偏高，最适合用来比较各种选择</translation>
        </message>
        <message>
            <source>Sum of the measured rises of each alone: it takes them for independent</source>
            <translation>各自单独去掉时实测上升量之和：把它们视为相互独立</translation>
        </message>
        <message>
            <source>{n} of {total} groups</source>
            <translation>{n} / {total} 组</translation>
        </message>
        <message>
            <source>{n} of {total} heads</source>
            <translation>{n} / {total} 个头</translation>
        </message>
        <message>
            <source>Take {n} of each layer</source>
            <translation>每层去掉 {n} 个</translation>
        </message>
        <message>
            <source>The nearest choice that can be cut out: those chosen first, then the least important</source>
            <translation>最接近的、可以真正削去的选择：优先取已选的，其次取最不重要的</translation>
        </message>
        <message>
            <source>Click on the map to switch single ones off.</source>
            <translation>在图上单击可逐个关闭。</translation>
        </message>
        <message>
            <source>Nothing would be left of the attention.</source>
            <translation>注意力将一点不剩。</translation>
        </message>
        <message>
            <source>This kind of model has no setting for fewer heads: they become zeros, and the file keeps its size.</source>
            <translation>这类模型的配置无法表示更少的头：它们会变为零，文件大小不变。</translation>
        </message>
        <message>
            <source>Each layer loses as many: they're cut out, and the file gets smaller.</source>
            <translation>各层去掉的一样多：它们会被真正削去，文件变小。</translation>
        </message>
        <message>
            <source>Layers lose different numbers: they become zeros, and the file keeps its size.</source>
            <translation>各层去掉的数目不同：它们会置零，文件大小不变。</translation>
        </message>
        <message>
            <source>Perplexity {before} → {after}, on {tokens} tokens that nothing was judged on.</source>
            <translation>困惑度 {before} → {after}，在未用于评判的 {tokens} 个词元上。</translation>
        </message>
        <message>
            <source>The outputs turn by {after} (1 − cosine), on {tokens} tokens that nothing was judged on.</source>
            <translation>输出偏转 {after}（1 − 余弦），在未用于评判的 {tokens} 个词元上。</translation>
        </message>
        <message>
            <source>Accuracy {before} → {after}, on {n} examples held out. From {low} to {high} it can't be told from the first.</source>
            <translation>准确率 {before} → {after}，基于 {n} 个留出样本。在 {low} 到 {high} 之间与原先无法区分。</translation>
        </message>
    </context>
    <context>
        <name>HistogramDialog</name>
        <message>
            <source>Layers of {name}</source>
            <translation>{name} 的各层</translation>
        </message>
        <message>
            <source>It isn't quantized, so its weights lie on no grid.</source>
            <translation>它没有量化，因此权重不在任何网格上。</translation>
        </message>
        <message>
            <source>Weights</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>Activations</source>
            <translation>激活值</translation>
        </message>
        <message>
            <source>Find a layer</source>
            <translation>查找层</translation>
        </message>
        <message>
            <source>Layers</source>
            <translation>层</translation>
        </message>
        <message>
            <source>Another text…</source>
            <translation>另一份文本…</translation>
        </message>
        <message>
            <source>Looks at the activations again, as a text of your own makes them</source>
            <translation>再次查看激活值，用你自己的文本得到的</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Nothing to show</source>
            <translation>没有可显示的内容</translation>
        </message>
        <message>
            <source>Inputs</source>
            <translation>输入</translation>
        </message>
        <message>
            <source>Outputs</source>
            <translation>输出</translation>
        </message>
        <message>
            <source>Weights in steps of their own group's grid: filled, what they were; lines, the points that they were rounded to and how many went there. What lies beyond the last point was clipped.</source>
            <translation>以所在分组的网格步长为单位的权重：填充部分是原来的分布；竖线是舍入到的网格点以及落到该点的权重数。超出最后一个点的部分被截断了。</translation>
        </message>
        <message>
            <source>What goes into each layer as the model reads a text, in steps of the grid that rounds it: filled, in the model that it was made from; line, at each point of the grid now. One large channel stretches the grid, and the others fall to 0.</source>
            <translation>模型读取文本时进入各层的数值，以舍入网格的步长为单位：填充部分是生成它的模型中的分布；竖线是现在落到各网格点的数量。一个很大的通道会撑大网格，使其他通道落到 0。</translation>
        </message>
        <message>
            <source>Largest weight of each channel</source>
            <translation>每个通道的最大权重</translation>
        </message>
        <message>
            <source>Largest of each input channel</source>
            <translation>每个输入通道的最大值</translation>
        </message>
        <message>
            <source>Reading the layer…</source>
            <translation>正在读取该层…</translation>
        </message>
        <message>
            <source>Reading a text…</source>
            <translation>正在读取文本…</translation>
        </message>
        <message>
            <source>The weights are read in a worker.</source>
            <translation>权重在工作进程中读取。</translation>
        </message>
        <message>
            <source>The model runs in a worker; what goes into each layer is counted.</source>
            <translation>模型在工作进程中运行；统计进入各层的数值。</translation>
        </message>
        <message>
            <source>Reading {layer}…</source>
            <translation>正在读取 {layer}…</translation>
        </message>
        <message>
            <source>Activations of {name}</source>
            <translation>{name} 的激活值</translation>
        </message>
        <message>
            <source>Choose a text</source>
            <translation>选择文本</translation>
        </message>
        <message>
            <source>Text files (*.txt *.md *.text);;All files (*)</source>
            <translation>文本文件 (*.txt *.md *.text);;所有文件 (*)</translation>
        </message>
        <message>
            <source>It was cancelled.</source>
            <translation>已取消。</translation>
        </message>
        <message>
            <source>No channel's largest weight is 3 times the median or more.</source>
            <translation>没有哪个通道的最大权重达到中位数的 3 倍。</translation>
        </message>
        <message>
            <source>{index} ({times} the median)</source>
            <translation>{index}（中位数{times}）</translation>
        </message>
        <message>
            <source>Outliers: {channels}</source>
            <translation>离群通道：{channels}</translation>
        </message>
        <message>
            <source>before</source>
            <translation>之前</translation>
        </message>
        <message>
            <source>as it is</source>
            <translation>原样</translation>
        </message>
        <message>
            <source>now, at each point</source>
            <translation>现在，在每个点上</translation>
        </message>
        <message>
            <source>if it were rounded so</source>
            <translation>若如此舍入</translation>
        </message>
        <message>
            <source>Point {point}: {n} activations</source>
            <translation>网格点 {point}：{n} 个激活值</translation>
        </message>
        <message>
            <source>No channel's largest activation is 3 times the median or more.</source>
            <translation>没有哪个通道的最大激活值达到中位数的 3 倍。</translation>
        </message>
        <message>
            <source>before, {index} had {times} the median</source>
            <translation>之前 {index} 为中位数{times}</translation>
        </message>
        <message>
            <source>The largest error of all layers: {layer}, {error}</source>
            <translation>各层中误差最大的：{layer}，{error}</translation>
        </message>
        <message>
            <source>float8</source>
            <translation>float8</translation>
        </message>
        <message>
            <source>{n} bits</source>
            <translation>{n} 位</translation>
        </message>
        <message>
            <source>a scale a token</source>
            <translation>每词元一个缩放系数</translation>
        </message>
        <message>
            <source>one fixed scale</source>
            <translation>一个固定缩放系数</translation>
        </message>
        <message>
            <source>symmetric</source>
            <translation>对称</translation>
        </message>
        <message>
            <source>with an offset</source>
            <translation>带偏移</translation>
        </message>
        <message>
            <source>{n} channels</source>
            <translation>{n} 个通道</translation>
        </message>
        <message>
            <source>{n} tokens</source>
            <translation>{n} 个词元</translation>
        </message>
        <message>
            <source>not rounded in this variant; what {grid}, {scale}, would make of it</source>
            <translation>在这个变体中没有舍入；以下为若用 {grid}、{scale} 的结果</translation>
        </message>
        <message>
            <source>error</source>
            <translation>误差</translation>
        </message>
        <message>
            <source>rounded to 0</source>
            <translation>舍入为 0</translation>
        </message>
        <message>
            <source>clipped</source>
            <translation>截断</translation>
        </message>
        <message>
            <source>before: {value}</source>
            <translation>之前：{value}</translation>
        </message>
        <message>
            <source>before: {name}</source>
            <translation>之前：{name}</translation>
        </message>
        <message>
            <source>text: {name}</source>
            <translation>文本：{name}</translation>
        </message>
        <message>
            <source>a scale for {n} columns</source>
            <translation>每 {n} 列一个缩放系数</translation>
        </message>
        <message>
            <source>a scale a row</source>
            <translation>每行一个缩放系数</translation>
        </message>
        <message>
            <source>error of the weights {error}</source>
            <translation>权重误差 {error}</translation>
        </message>
        <message>
            <source>clipped {share}</source>
            <translation>截断 {share}</translation>
        </message>
        <message>
            <source>rescaled before it was rounded, so what it was isn't on the same scale</source>
            <translation>舍入前已重新缩放，因此原来的权重不在同一尺度上</translation>
        </message>
    </context>
    <context>
        <name>HistogramPlot</name>
        <message>
            <source>before</source>
            <translation>之前</translation>
        </message>
        <message>
            <source>after, at each point</source>
            <translation>之后，在每个点上</translation>
        </message>
        <message>
            <source>Point {point}: {n} weights</source>
            <translation>网格点 {point}：{n} 个权重</translation>
        </message>
        <message>
            <source>Histogram</source>
            <translation>直方图</translation>
        </message>
        <message>
            <source>steps of the grid; counts on a logarithmic scale</source>
            <translation>网格步长；计数为对数刻度</translation>
        </message>
        <message>
            <source>steps of the grid</source>
            <translation>网格步长</translation>
        </message>
    </context>
    <context>
        <name>ImagesChoice</name>
        <message>
            <source>Choose images</source>
            <translation>选择图像</translation>
        </message>
        <message>
            <source>Arrays of images (*.npz);;All files (*)</source>
            <translation>图像数组 (*.npz);;所有文件 (*)</translation>
        </message>
        <message>
            <source>An .npz file, or a folder of pictures</source>
            <translation>一个 .npz 文件或图片文件夹</translation>
        </message>
        <message>
            <source>Images of my own</source>
            <translation>我自己的图像</translation>
        </message>
    </context>
    <context>
        <name>Inspector</name>
        <message>
            <source>Export…</source>
            <translation>导出…</translation>
        </message>
        <message>
            <source>Use as draft</source>
            <translation>用作草稿模型</translation>
        </message>
        <message>
            <source>Evaluate: measure it again, or on another text</source>
            <translation>评测：再次测量，或换一份文本</translation>
        </message>
        <message>
            <source>Evaluate</source>
            <translation>评测</translation>
        </message>
        <message>
            <source>Nothing selected</source>
            <translation>未选择任何内容</translation>
        </message>
        <message>
            <source>Choose a variant in the tree or a point in the plot to see what it's made of.</source>
            <translation>在树中选择一个变体，或在图中选择一个点，即可查看它的构成。</translation>
        </message>
        <message>
            <source>It doesn't generate text, so it can't draft.</source>
            <translation>它不生成文本，因此不能打草稿。</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <source>Drawn from the same noise</source>
            <translation>由同一噪声画出</translation>
        </message>
        <message>
            <source>Measurements</source>
            <translation>测量结果</translation>
        </message>
        <message>
            <source>Not measured yet. Evaluate gives it its figures.</source>
            <translation>尚未测量。通过“评测”得到各项数值。</translation>
        </message>
        <message>
            <source>By the number of steps</source>
            <translation>按步数</translation>
        </message>
        <message>
            <source>Samples of its training</source>
            <translation>它训练时的样例</translation>
        </message>
        <message>
            <source>Exports</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Lineage</source>
            <translation>谱系</translation>
        </message>
        <message>
            <source>Notes</source>
            <translation>说明</translation>
        </message>
        <message>
            <source>Recipe</source>
            <translation>配方</translation>
        </message>
        <message>
            <source>From above: the teacher in all of its steps, the teacher in as few as the student, the student</source>
            <translation>自上而下：用全部步数的教师、与学生步数相同的教师、学生</translation>
        </message>
        <message>
            <source>What was kept of them can't be read.</source>
            <translation>保存下来的样例无法读取。</translation>
        </message>
        <message>
            <source>{setting}: {value}</source>
            <translation>{setting}：{value}</translation>
        </message>
        <message>
            <source>Size on disk</source>
            <translation>磁盘大小</translation>
        </message>
        <message>
            <source>Weights that aren't zero, against all of the original's</source>
            <translation>非零权重，相对于原始模型的全部权重</translation>
        </message>
        <message>
            <source>Non-zero</source>
            <translation>非零</translation>
        </message>
        <message>
            <source>Copy the recipe</source>
            <translation>复制配方</translation>
        </message>
        <message>
            <source>as</source>
            <translation>存储为</translation>
        </message>
        <message>
            <source>weights</source>
            <translation>权重数</translation>
        </message>
        <message>
            <source>bytes</source>
            <translation>字节</translation>
        </message>
        <message>
            <source>{n} of them not zero</source>
            <translation>其中 {n} 个非零</translation>
        </message>
        <message>
            <source>Bits a weight</source>
            <translation>每权重位数</translation>
        </message>
        <message>
            <source>Tied, stored once</source>
            <translation>绑定，只存一次</translation>
        </message>
        <message>
            <source>On disk</source>
            <translation>磁盘占用</translation>
        </message>
        <message>
            <source>Resident memory</source>
            <translation>常驻内存</translation>
        </message>
        <message>
            <source>Peak memory</source>
            <translation>峰值内存</translation>
        </message>
        <message>
            <source>Weights and activations before and after, with the grid drawn in</source>
            <translation>前后的权重和激活值，并画出网格</translation>
        </message>
        <message>
            <source>It's for models of text.</source>
            <translation>只适用于文本模型。</translation>
        </message>
        <message>
            <source>Layers…</source>
            <translation>各层…</translation>
        </message>
        <message>
            <source>It gives no probabilities, so there is no KL to measure.</source>
            <translation>它不给出概率，因此没有 KL 可测。</translation>
        </message>
        <message>
            <source>How much each layer minds fewer bits, and bits under a budget</source>
            <translation>每一层对减少位数有多敏感，以及在预算内分配位数</translation>
        </message>
        <message>
            <source>Sensitivity…</source>
            <translation>敏感度…</translation>
        </message>
        <message>
            <source>What each attention head is worth; switch them off and cut them</source>
            <translation>每个注意力头有多重要；可关闭并削减它们</translation>
        </message>
        <message>
            <source>It isn't known what it's for, so there is no loss to judge heads by.</source>
            <translation>不知道它的用途，因此没有损失可用来评判注意力头。</translation>
        </message>
        <message>
            <source>It draws images; heads are judged in models of text.</source>
            <translation>它画的是图像；注意力头只在文本模型中评判。</translation>
        </message>
        <message>
            <source>Heads…</source>
            <translation>注意力头…</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>步数</translation>
        </message>
        <message>
            <source>Conditions</source>
            <translation>条件</translation>
        </message>
        <message>
            <source>Embedding</source>
            <translation>嵌入</translation>
        </message>
        <message>
            <source>Attention</source>
            <translation>注意力</translation>
        </message>
        <message>
            <source>MLP</source>
            <translation>MLP</translation>
        </message>
        <message>
            <source>Norms</source>
            <translation>归一化</translation>
        </message>
        <message>
            <source>Head</source>
            <translation>输出头</translation>
        </message>
        <message>
            <source>Other</source>
            <translation>其他</translation>
        </message>
        <message>
            <source>Scales</source>
            <translation>缩放系数</translation>
        </message>
        <message>
            <source>Masks</source>
            <translation>掩码</translation>
        </message>
        <message>
            <source>Tokenizer</source>
            <translation>分词器</translation>
        </message>
        <message>
            <source>Config</source>
            <translation>配置</translation>
        </message>
        <message>
            <source>file</source>
            <translation>文件</translation>
        </message>
        <message>
            <source>yes</source>
            <translation>是</translation>
        </message>
        <message>
            <source>no</source>
            <translation>否</translation>
        </message>
    </context>
    <context>
        <name>IntEditor</name>
        <message>
            <source>not set</source>
            <translation>未设置</translation>
        </message>
    </context>
    <context>
        <name>JobPanel</name>
        <message>
            <source>Jobs</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Take finished jobs off the list</source>
            <translation>从列表中移除已结束的任务</translation>
        </message>
        <message>
            <source>No jobs</source>
            <translation>没有任务</translation>
        </message>
        <message>
            <source>What you start appears here, with its progress and its log.</source>
            <translation>你启动的任务会连同进度和日志显示在这里。</translation>
        </message>
        <message>
            <source>Log</source>
            <translation>日志</translation>
        </message>
        <message>
            <source>Curves</source>
            <translation>曲线</translation>
        </message>
        <message>
            <source>Layers</source>
            <translation>层</translation>
        </message>
        <message>
            <source>Samples</source>
            <translation>样例</translation>
        </message>
        <message>
            <source>Least level shown</source>
            <translation>显示的最低级别</translation>
        </message>
        <message>
            <source>All levels</source>
            <translation>全部级别</translation>
        </message>
        <message>
            <source>Information</source>
            <translation>信息</translation>
        </message>
        <message>
            <source>Warnings</source>
            <translation>警告</translation>
        </message>
        <message>
            <source>Errors</source>
            <translation>错误</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <source>Stop here and keep the best</source>
            <translation>到此为止，保留最好的</translation>
        </message>
        <message>
            <source>Copy the log</source>
            <translation>复制日志</translation>
        </message>
        <message>
            <source>{n} running</source>
            <translation>{n} 个运行中</translation>
        </message>
        <message>
            <source>{n} queued</source>
            <translation>{n} 个排队</translation>
        </message>
        <message>
            <source>Show the variant</source>
            <translation>显示该变体</translation>
        </message>
        <message>
            <source>Explain the failure…</source>
            <translation>解释失败原因…</translation>
        </message>
        <message>
            <source>Restart with other settings…</source>
            <translation>更改设置后重新开始…</translation>
        </message>
        <message>
            <source>Go on</source>
            <translation>接着进行</translation>
        </message>
        <message>
            <source>Take off the list</source>
            <translation>从列表中移除</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Exported to {folder}</source>
            <translation>已导出到 {folder}</translation>
        </message>
        <message>
            <source>Done</source>
            <translation>完成</translation>
        </message>
        <message>
            <source>Restart with other settings</source>
            <translation>更改设置后重新开始</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>Starting</source>
            <translation>正在启动</translation>
        </message>
        <message>
            <source>Pauses as soon as it can</source>
            <translation>将尽快暂停</translation>
        </message>
        <message>
            <source>Stops here; the best is kept</source>
            <translation>到此为止；保留最好的</translation>
        </message>
        <message>
            <source>loss {value}</source>
            <translation>损失 {value}</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Waits for its turn</source>
            <translation>等待轮到它</translation>
        </message>
        <message>
            <source>Cancelled; nothing was kept</source>
            <translation>已取消；没有保留任何内容</translation>
        </message>
        <message>
            <source>Cancelling…</source>
            <translation>正在取消…</translation>
        </message>
    </context>
    <context>
        <name>JobRow</name>
        <message>
            <source>Restart with other settings</source>
            <translation>更改设置后重新开始</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>Take off the list</source>
            <translation>从列表中移除</translation>
        </message>
        <message>
            <source>Starting</source>
            <translation>正在启动</translation>
        </message>
        <message>
            <source>Pauses as soon as it can</source>
            <translation>将尽快暂停</translation>
        </message>
        <message>
            <source>Stops here; the best is kept</source>
            <translation>到此为止；保留最好的</translation>
        </message>
        <message>
            <source>loss {value}</source>
            <translation>损失 {value}</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Waits for its turn</source>
            <translation>等待轮到它</translation>
        </message>
        <message>
            <source>Cancelled; nothing was kept</source>
            <translation>已取消；没有保留任何内容</translation>
        </message>
        <message>
            <source>Cancelling…</source>
            <translation>正在取消…</translation>
        </message>
    </context>
    <context>
        <name>LabelsChoice</name>
        <message>
            <source>Other examples</source>
            <translation>其他样例</translation>
        </message>
        <message>
            <source>Choose examples</source>
            <translation>选择样例</translation>
        </message>
        <message>
            <source>Examples (*.csv *.tsv *.jsonl *.ndjson *.json *.parquet);;All files (*)</source>
            <translation>样例 (*.csv *.tsv *.jsonl *.ndjson *.json *.parquet);;所有文件 (*)</translation>
        </message>
        <message>
            <source>A .csv, .jsonl or .parquet file, or org/name on the Hub</source>
            <translation>.csv、.jsonl 或 .parquet 文件，或 Hub 上的 org/name</translation>
        </message>
        <message>
            <source>Column with the text</source>
            <translation>文本所在的列</translation>
        </message>
        <message>
            <source>Column with the class</source>
            <translation>类别所在的列</translation>
        </message>
        <message>
            <source>Those that it learnt from: {name}</source>
            <translation>它学习过的样例：{name}</translation>
        </message>
        <message>
            <source>Reading …</source>
            <translation>正在读取…</translation>
        </message>
        <message>
            <source>Choose the columns: their names don't tell which holds the text and which the class.</source>
            <translation>请选择列：从列名看不出哪一列是文本、哪一列是类别。</translation>
        </message>
        <message>
            <source>{rows} examples of {n} classes: {classes}.</source>
            <translation>{rows} 个样例，{n} 个类别：{classes}。</translation>
        </message>
        <message>
            <source>{n} are held out for measuring.</source>
            <translation>{n} 个留出用于测量。</translation>
        </message>
        <message>
            <source>Always answering '{name}' would be right for {share} %: an accuracy near that says little.</source>
            <translation>始终回答“{name}”就有 {share} % 正确：接近它的准确率说明不了什么。</translation>
        </message>
        <message>
            <source>{n} rows without a text or a class are left out.</source>
            <translation>略去了 {n} 行缺少文本或类别的数据。</translation>
        </message>
    </context>
    <context>
        <name>LanePane</name>
        <message>
            <source>{n} tok/s</source>
            <translation>{n} 词元/秒</translation>
        </message>
        <message>
            <source>{share} kept</source>
            <translation>保留 {share}</translation>
        </message>
    </context>
    <context>
        <name>LayerErrorView</name>
        <message>
            <source>What's shown of each part</source>
            <translation>各部分显示什么</translation>
        </message>
        <message>
            <source>Error of each layer</source>
            <translation>各层的误差</translation>
        </message>
        <message>
            <source>Figures of each block</source>
            <translation>各块的数值</translation>
        </message>
        <message>
            <source>A job that quantizes or prunes shows here what it does to each layer.</source>
            <translation>量化或剪枝任务会在这里显示它对每一层的影响。</translation>
        </message>
        <message>
            <source>No layers yet</source>
            <translation>还没有层</translation>
        </message>
        <message>
            <source>Importance of heads</source>
            <translation>注意力头的重要性</translation>
        </message>
        <message>
            <source>Loss by leaving each head out</source>
            <translation>逐个略去注意力头时的损失</translation>
        </message>
        <message>
            <source>Influence of each block</source>
            <translation>各块的影响度</translation>
        </message>
        <message>
            <source>Loss without each block</source>
            <translation>去掉各块时的损失</translation>
        </message>
        <message>
            <source>Sparsity of each block</source>
            <translation>各块的稀疏度</translation>
        </message>
        <message>
            <source>Head</source>
            <translation>输出头</translation>
        </message>
        <message>
            <source>Relative error of a layer's output, on a logarithmic scale</source>
            <translation>层输出的相对误差，对数刻度</translation>
        </message>
        <message>
            <source>On a logarithmic scale</source>
            <translation>对数刻度</translation>
        </message>
        <message>
            <source>{layer}: error {error} of its output</source>
            <translation>{layer}：误差为其输出的 {error}</translation>
        </message>
        <message>
            <source>Layer {layer}, head or group {unit}: {value}</source>
            <translation>第 {layer} 层，第 {unit} 头或组：{value}</translation>
        </message>
        <message>
            <source>Block {n}: {value}</source>
            <translation>第 {n} 块：{value}</translation>
        </message>
        <message>
            <source>dropped</source>
            <translation>已去掉</translation>
        </message>
        <message>
            <source>{n} layers, error in %. The largest: {layer}, {error}</source>
            <translation>{n} 层，误差以 % 计。最大：{layer}，{error}</translation>
        </message>
        <message>
            <source>{n} heads or groups; the least important go first</source>
            <translation>{n} 个头或组；最不重要的先去掉</translation>
        </message>
        <message>
            <source>{n} blocks, from {low} to {high}; dashed: their mean</source>
            <translation>{n} 块，从 {low} 到 {high}；虚线：均值</translation>
        </message>
        <message>
            <source>{n} blocks, judged anew after each drop; {gone} dropped</source>
            <translation>{n} 块，每次去掉后重新评判；已去掉 {gone} 块</translation>
        </message>
    </context>
    <context>
        <name>Legend</name>
        <message>
            <source>Pareto front</source>
            <translation>帕累托前沿</translation>
        </message>
        <message>
            <source>Other conditions</source>
            <translation>其他条件</translation>
        </message>
    </context>
    <context>
        <name>LegendButton</name>
        <message>
            <source>Click to dim the others.</source>
            <translation>点击可淡化其他词元。</translation>
        </message>
        <message>
            <source>Show only: {kind}</source>
            <translation>只显示：{kind}</translation>
        </message>
    </context>
    <context>
        <name>LibraryModel</name>
        <message>
            <source>Variant</source>
            <translation>变体</translation>
        </message>
        <message>
            <source>MB</source>
            <translation>MB</translation>
        </message>
        <message>
            <source>Perplexity on the evaluation text (lower is better); for encoders the cosine to the original's output.</source>
            <translation>评测文本上的困惑度（越低越好）；对编码器则为与原始模型输出的余弦相似度。</translation>
        </message>
        <message>
            <source>Score</source>
            <translation>得分</translation>
        </message>
        <message>
            <source>Cosine</source>
            <translation>余弦</translation>
        </message>
        <message>
            <source>Acc. %</source>
            <translation>准确率 %</translation>
        </message>
        <message>
            <source>Fréchet</source>
            <translation>弗雷歇</translation>
        </message>
        <message>
            <source>Perpl.</source>
            <translation>困惑度</translation>
        </message>
        <message>
            <source>waiting for its turn</source>
            <translation>等待轮到它</translation>
        </message>
        <message>
            <source>This variant is being made: {stage}</source>
            <translation>正在制作这个变体：{stage}</translation>
        </message>
        <message>
            <source>Measured on another text or under other conditions than most, so not comparable with them.</source>
            <translation>与大多数不同，它是在另一份文本或其他条件下测量的，因此不能相互比较。</translation>
        </message>
    </context>
    <context>
        <name>LibraryView</name>
        <message>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>Filter variants</source>
            <translation>筛选变体</translation>
        </message>
        <message>
            <source>Variants</source>
            <translation>变体</translation>
        </message>
        <message>
            <source>No variant matches “{words}”.</source>
            <translation>没有变体匹配“{words}”。</translation>
        </message>
        <message>
            <source>Damaged records left out: {n}</source>
            <translation>略去的损坏记录：{n}</translation>
        </message>
        <message>
            <source>La&amp;yers…</source>
            <translation>各层(&amp;Y)…</translation>
        </message>
        <message>
            <source>&amp;Sensitivity of layers…</source>
            <translation>各层的敏感度(&amp;S)…</translation>
        </message>
        <message>
            <source>Attention &amp;heads…</source>
            <translation>注意力头(&amp;H)…</translation>
        </message>
        <message>
            <source>Study &amp;gradients…</source>
            <translation>研究梯度(&amp;G)…</translation>
        </message>
        <message>
            <source>&amp;Decode with it</source>
            <translation>用它解码(&amp;D)</translation>
        </message>
        <message>
            <source>Use as dra&amp;ft</source>
            <translation>用作草稿模型(&amp;F)</translation>
        </message>
        <message>
            <source>&amp;Prune…</source>
            <translation>剪枝(&amp;P)…</translation>
        </message>
        <message>
            <source>&amp;Quantize…</source>
            <translation>量化(&amp;Q)…</translation>
        </message>
        <message>
            <source>D&amp;istil…</source>
            <translation>蒸馏(&amp;I)…</translation>
        </message>
        <message>
            <source>Fine-&amp;tune…</source>
            <translation>微调(&amp;T)…</translation>
        </message>
        <message>
            <source>&amp;Evaluate…</source>
            <translation>评测(&amp;E)…</translation>
        </message>
        <message>
            <source>E&amp;xport…</source>
            <translation>导出(&amp;X)…</translation>
        </message>
        <message>
            <source>&amp;Rename</source>
            <translation>重命名(&amp;R)</translation>
        </message>
        <message>
            <source>Show &amp;folder</source>
            <translation>显示文件夹(&amp;F)</translation>
        </message>
        <message>
            <source>&amp;Copy recipe</source>
            <translation>复制配方(&amp;C)</translation>
        </message>
        <message>
            <source>De&amp;lete…</source>
            <translation>删除(&amp;L)…</translation>
        </message>
        <message>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
    </context>
    <context>
        <name>LogView</name>
        <message>
            <source>Restart with other settings</source>
            <translation>更改设置后重新开始</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>Take off the list</source>
            <translation>从列表中移除</translation>
        </message>
        <message>
            <source>Starting</source>
            <translation>正在启动</translation>
        </message>
        <message>
            <source>Pauses as soon as it can</source>
            <translation>将尽快暂停</translation>
        </message>
        <message>
            <source>Stops here; the best is kept</source>
            <translation>到此为止；保留最好的</translation>
        </message>
        <message>
            <source>loss {value}</source>
            <translation>损失 {value}</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Waits for its turn</source>
            <translation>等待轮到它</translation>
        </message>
        <message>
            <source>Cancelled; nothing was kept</source>
            <translation>已取消；没有保留任何内容</translation>
        </message>
        <message>
            <source>Cancelling…</source>
            <translation>正在取消…</translation>
        </message>
        <message>
            <source>Log</source>
            <translation>日志</translation>
        </message>
        <message>
            <source>Nothing logged yet</source>
            <translation>还没有日志</translation>
        </message>
    </context>
    <context>
        <name>LookDialog</name>
        <message>
            <source>Inside {name}</source>
            <translation>{name} 的内部</translation>
        </message>
        <message>
            <source>What the graph is made of. Sizes are those of the stored weights; nothing is run.</source>
            <translation>计算图由什么组成。大小是所存权重的大小；不运行任何东西。</translation>
        </message>
        <message>
            <source>Read again</source>
            <translation>重新读取</translation>
        </message>
        <message>
            <source>Open in Netron</source>
            <translation>在 Netron 中打开</translation>
        </message>
        <message>
            <source>Netron shows the graph node by node, in a window or browser of its own</source>
            <translation>Netron 在自己的窗口或浏览器中逐个节点地显示计算图</translation>
        </message>
        <message>
            <source>Netron isn't installed here: pip install netron. It shows a graph node by node.</source>
            <translation>这里没有安装 Netron：pip install netron。它逐个节点地显示计算图。</translation>
        </message>
        <message>
            <source>Reading the graph</source>
            <translation>正在读取计算图</translation>
        </message>
        <message>
            <source>Look into {name}</source>
            <translation>查看 {name}</translation>
        </message>
        <message>
            <source>Fused and packed</source>
            <translation>融合与打包</translation>
        </message>
        <message>
            <source>Fused attention</source>
            <translation>融合的注意力</translation>
        </message>
        <message>
            <source>GroupQueryAttention: attention with its cache in one operator</source>
            <translation>GroupQueryAttention：注意力连同缓存合为一个算子</translation>
        </message>
        <message>
            <source>Fused norms</source>
            <translation>融合的归一化</translation>
        </message>
        <message>
            <source>A norm, often with the addition before it, in one operator</source>
            <translation>归一化，常连同之前的加法，合为一个算子</translation>
        </message>
        <message>
            <source>Joined products</source>
            <translation>合并的乘积</translation>
        </message>
        <message>
            <source>Products of the same input computed as one: queries, keys and values, or the two ways into an MLP</source>
            <translation>输入相同的多个乘积合并为一个来计算：查询、键和值，或者 MLP 的两条输入支路</translation>
        </message>
        <message>
            <source>Products with packed weights</source>
            <translation>用打包权重的乘积</translation>
        </message>
        <message>
            <source>MatMulNBits: the weights stay 4 or 8 bits in memory</source>
            <translation>MatMulNBits：权重在内存中保持 4 或 8 位</translation>
        </message>
        <message>
            <source>Products with widened weights</source>
            <translation>用展开权重的乘积</translation>
        </message>
        <message>
            <source>Stored as int8, widened when the file is loaded</source>
            <translation>以 int8 存储，加载文件时展开</translation>
        </message>
        <message>
            <source>Products with dense weights</source>
            <translation>用稠密权重的乘积</translation>
        </message>
        <message>
            <source>Weights in floating point</source>
            <translation>浮点权重</translation>
        </message>
        <message>
            <source>Products of two activations</source>
            <translation>两个激活值的乘积</translation>
        </message>
        <message>
            <source>Nothing to pack: both sides are computed</source>
            <translation>没有可打包的：两边都是算出来的</translation>
        </message>
        <message>
            <source>Not quantized, since the variant keeps them dense: {layers}.</source>
            <translation>未量化，因为变体保持它们为稠密：{layers}。</translation>
        </message>
        <message>
            <source>The folder has no report of Spokeshave's, so why it's like that isn't known.</source>
            <translation>文件夹中没有 Spokeshave 的报告，因此不知道为何如此。</translation>
        </message>
        <message>
            <source>Attention isn't fused in the portable profile, which takes batches and padding.</source>
            <translation>通用配置不融合注意力，它接受批次和填充。</translation>
        </message>
        <message>
            <source>Of the two graphs, this is the decoder's; the encoder's is beside it.</source>
            <translation>两个计算图中，这是解码器的；编码器的在其旁边。</translation>
        </message>
        <message>
            <source>Operators</source>
            <translation>算子</translation>
        </message>
        <message>
            <source>{name} isn't in the ONNX standard: onnxruntime and what's built on it know it</source>
            <translation>{name} 不在 ONNX 标准中：onnxruntime 及以其为基础的程序认识它</translation>
        </message>
        <message>
            <source>* not in the ONNX standard: onnxruntime's own</source>
            <translation>* 不在 ONNX 标准中：onnxruntime 自己的</translation>
        </message>
        <message>
            <source>All operators are of the ONNX standard.</source>
            <translation>所有算子都属于 ONNX 标准。</translation>
        </message>
        <message>
            <source>Largest weights</source>
            <translation>最大的权重</translation>
        </message>
    </context>
    <context>
        <name>MainWindow</name>
        <message>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>Open a model: a folder, a GGUF file, or a Hub id</source>
            <translation>打开模型：文件夹、GGUF 文件或 Hub 标识</translation>
        </message>
        <message>
            <source>Prune</source>
            <translation>剪枝</translation>
        </message>
        <message>
            <source>Take out weights that matter least</source>
            <translation>去掉最不重要的权重</translation>
        </message>
        <message>
            <source>Quantize</source>
            <translation>量化</translation>
        </message>
        <message>
            <source>Store weights in fewer bits</source>
            <translation>用更少的位存储权重</translation>
        </message>
        <message>
            <source>Distil</source>
            <translation>蒸馏</translation>
        </message>
        <message>
            <source>Teach a smaller model what this one says</source>
            <translation>教一个更小的模型说出这个模型会说的</translation>
        </message>
        <message>
            <source>Fine-tune</source>
            <translation>微调</translation>
        </message>
        <message>
            <source>Train on, to recover what a cut cost</source>
            <translation>继续训练，找回削减所失去的</translation>
        </message>
        <message>
            <source>Evaluate</source>
            <translation>评测</translation>
        </message>
        <message>
            <source>Measure a variant again, or on another text</source>
            <translation>再次测量一个变体，或换一份文本</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Export to ONNX or GGUF, with a check of the result</source>
            <translation>导出为 ONNX 或 GGUF，并检查结果</translation>
        </message>
        <message>
            <source>Trade-off</source>
            <translation>权衡</translation>
        </message>
        <message>
            <source>Decode lab</source>
            <translation>解码实验室</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <source>Light or dark</source>
            <translation>浅色或深色</translation>
        </message>
        <message>
            <source>Menu</source>
            <translation>菜单</translation>
        </message>
        <message>
            <source>&amp;New workspace…</source>
            <translation>新建工作区(&amp;N)…</translation>
        </message>
        <message>
            <source>&amp;Open workspace…</source>
            <translation>打开工作区(&amp;O)…</translation>
        </message>
        <message>
            <source>&amp;Recent workspaces</source>
            <translation>最近的工作区(&amp;R)</translation>
        </message>
        <message>
            <source>&amp;Show the workspace's folder</source>
            <translation>显示工作区文件夹(&amp;S)</translation>
        </message>
        <message>
            <source>Open the s&amp;tarter models</source>
            <translation>打开入门模型(&amp;T)</translation>
        </message>
        <message>
            <source>Show the &amp;inspector</source>
            <translation>显示检视面板(&amp;I)</translation>
        </message>
        <message>
            <source>Show the &amp;jobs</source>
            <translation>显示任务(&amp;J)</translation>
        </message>
        <message>
            <source>S&amp;ettings…</source>
            <translation>设置(&amp;E)…</translation>
        </message>
        <message>
            <source>&amp;Keyboard shortcuts</source>
            <translation>键盘快捷键(&amp;K)</translation>
        </message>
        <message>
            <source>&amp;About Spokeshave</source>
            <translation>关于 Spokeshave(&amp;A)</translation>
        </message>
        <message>
            <source>&amp;Quit</source>
            <translation>退出(&amp;Q)</translation>
        </message>
        <message>
            <source>Open a model</source>
            <translation>打开模型</translation>
        </message>
        <message>
            <source>Export to ONNX or GGUF</source>
            <translation>导出为 ONNX 或 GGUF</translation>
        </message>
        <message>
            <source>Show the trade-off</source>
            <translation>显示权衡图</translation>
        </message>
        <message>
            <source>Show the decode lab</source>
            <translation>显示解码实验室</translation>
        </message>
        <message>
            <source>Filter the variants</source>
            <translation>筛选变体</translation>
        </message>
        <message>
            <source>Show or hide the inspector</source>
            <translation>显示或隐藏检视面板</translation>
        </message>
        <message>
            <source>Show or hide the jobs</source>
            <translation>显示或隐藏任务</translation>
        </message>
        <message>
            <source>Open a workspace</source>
            <translation>打开工作区</translation>
        </message>
        <message>
            <source>New workspace</source>
            <translation>新建工作区</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>This list</source>
            <translation>本列表</translation>
        </message>
        <message>
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <source>There's no translation for {language}.</source>
            <translation>没有 {language} 的翻译。</translation>
        </message>
        <message>
            <source>Choose an empty folder for the new workspace</source>
            <translation>为新工作区选择一个空文件夹</translation>
        </message>
        <message>
            <source>None yet</source>
            <translation>还没有</translation>
        </message>
        <message>
            <source>Open {name}</source>
            <translation>打开 {name}</translation>
        </message>
        <message>
            <source>The starter models are here already.</source>
            <translation>入门模型已经在这里了。</translation>
        </message>
        <message>
            <source>The recipe of {name} is on the clipboard.</source>
            <translation>{name} 的配方已复制到剪贴板。</translation>
        </message>
        <message>
            <source>Delete {name}?</source>
            <translation>删除 {name}？</translation>
        </message>
        <message>
            <source>Its folder and its measurements are removed for good.</source>
            <translation>它的文件夹和测量结果将被永久移除。</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Open a model first.</source>
            <translation>请先打开一个模型。</translation>
        </message>
        <message>
            <source>The method {name} isn't known here.</source>
            <translation>这里不认识方法 {name}。</translation>
        </message>
        <message>
            <source>Workspace</source>
            <translation>工作区</translation>
        </message>
        <message>
            <source>Open a model first</source>
            <translation>请先打开一个模型</translation>
        </message>
        <message>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
        <message>
            <source>Decode with it</source>
            <translation>用它解码</translation>
        </message>
        <message>
            <source>What can be done with it</source>
            <translation>可以对它做什么</translation>
        </message>
        <message>
            <source>The next point</source>
            <translation>下一个点</translation>
        </message>
        <message>
            <source>Show everything</source>
            <translation>显示全部</translation>
        </message>
        <message>
            <source>Move the budget line</source>
            <translation>移动预算线</translation>
        </message>
        <message>
            <source>The next job</source>
            <translation>下一个任务</translation>
        </message>
        <message>
            <source>Its result, or why it failed</source>
            <translation>它的结果，或者失败的原因</translation>
        </message>
        <message>
            <source>Pause it, or go on</source>
            <translation>暂停，或继续</translation>
        </message>
        <message>
            <source>Cancel it, or take it off the list</source>
            <translation>取消它，或从列表中移除</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>Window</source>
            <translation>窗口</translation>
        </message>
        <message>
            <source>Tree</source>
            <translation>树</translation>
        </message>
        <message>
            <source>Plot</source>
            <translation>图</translation>
        </message>
        <message>
            <source>Jobs</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>A job is still at work. Close all the same?</source>
            <translation>有一个任务仍在进行。仍要关闭吗？</translation>
        </message>
        <message>
            <source>Jobs are still at work. Close all the same?</source>
            <translation>有任务仍在进行。仍要关闭吗？</translation>
        </message>
        <message>
            <source>They are cancelled, and nothing of them is kept.</source>
            <translation>它们会被取消，不保留任何内容。</translation>
        </message>
        <message>
            <source>Cancel them and close</source>
            <translation>取消任务并关闭</translation>
        </message>
    </context>
    <context>
        <name>MeasurePage</name>
        <message>
            <source>Measure</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>Measure a variant</source>
            <translation>测量变体</translation>
        </message>
        <message>
            <source>Figures taken on the same text or images, under the same settings, can be compared.</source>
            <translation>在相同的文本或图像上、以相同设置取得的数字可以比较。</translation>
        </message>
        <message>
            <source>Hold Ctrl to choose several</source>
            <translation>按住 Ctrl 可选择多个</translation>
        </message>
        <message>
            <source>Held-out text that comes with Spokeshave</source>
            <translation>Spokeshave 自带的留出文本</translation>
        </message>
        <message>
            <source>KL divergence and agreement are measured against it</source>
            <translation>KL 散度和一致率以它为基准测量</translation>
        </message>
        <message>
            <source>automatic</source>
            <translation>自动</translation>
        </message>
        <message>
            <source>Tokens that the model sees at once; automatic: 512, or the model's own where that is less</source>
            <translation>模型一次看到的词元数；自动：512，或模型自身更小的上下文</translation>
        </message>
        <message>
            <source>More tokens take longer and make the interval narrower</source>
            <translation>词元越多耗时越长，区间也越窄</translation>
        </message>
        <message>
            <source>Measure speed too</source>
            <translation>同时测量速度</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Compare with</source>
            <translation>比较对象</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <source>Read at most, tokens</source>
            <translation>最多读取的词元数</translation>
        </message>
        <message>
            <source>Choose examples</source>
            <translation>选择样例</translation>
        </message>
        <message>
            <source>Examples (*.csv *.tsv *.jsonl *.ndjson *.json *.parquet);;All files (*)</source>
            <translation>样例 (*.csv *.tsv *.jsonl *.ndjson *.json *.parquet);;所有文件 (*)</translation>
        </message>
        <message>
            <source>Empty: the held-out part of those that it learnt from</source>
            <translation>留空：它学习过的样例中留出的部分</translation>
        </message>
        <message>
            <source>Labelled examples, for accuracy</source>
            <translation>带标签的样例，用于测量准确率</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>Images</source>
            <translation>图像</translation>
        </message>
        <message>
            <source>Those that it learnt from</source>
            <translation>它学过的图像</translation>
        </message>
        <message>
            <source>As many as it was made for</source>
            <translation>按它设计的步数</translation>
        </message>
        <message>
            <source>{n} steps</source>
            <translation>{n} 步</translation>
        </message>
        <message>
            <source>Steps from noise to image. A model that wasn't made for a number is drawn from in 32.</source>
            <translation>从噪声到图像的步数。没有设计步数的模型用 32 步。</translation>
        </message>
        <message>
            <source>Steps to draw in</source>
            <translation>绘图步数</translation>
        </message>
        <message>
            <source>And in 32, 16, 8, 4, 2 and 1 steps: quality against time</source>
            <translation>另用 32、16、8、4、2 和 1 步：质量对时间</translation>
        </message>
        <message>
            <source>The plot then shows a line for each model. Takes about twice as long as 32 steps alone.</source>
            <translation>图上每个模型便有一条线。耗时约为仅用 32 步的两倍。</translation>
        </message>
        <message>
            <source>Nothing</source>
            <translation>无</translation>
        </message>
    </context>
    <context>
        <name>MethodPage</name>
        <message>
            <source>Method</source>
            <translation>方法</translation>
        </message>
        <message>
            <source>Choose a method</source>
            <translation>选择方法</translation>
        </message>
        <message>
            <source>Pruning takes weights away. What's left computes with fewer of them, and a little less exactly.</source>
            <translation>剪枝去掉一部分权重。剩下的用更少的权重计算，精确度略低。</translation>
        </message>
        <message>
            <source>Quantization stores each weight in fewer bits. Eight are nearly free; below four it shows.</source>
            <translation>量化用更少的位存储每个权重。八位几乎没有损失；低于四位就能看出来。</translation>
        </message>
        <message>
            <source>A smaller model, the student, learns to predict what the larger one, the teacher, predicts.</source>
            <translation>较小的模型（学生）学习预测较大的模型（教师）所预测的内容。</translation>
        </message>
        <message>
            <source>Training a little more on text wins back accuracy that a cut has cost. Zeros stay zero.</source>
            <translation>在文本上再训练一会儿，可以找回削减所失去的准确率。零保持为零。</translation>
        </message>
        <message>
            <source>The worker is still starting. The methods appear here in a few seconds.</source>
            <translation>工作进程仍在启动。几秒后方法会出现在这里。</translation>
        </message>
        <message>
            <source>For other kinds of model: {names}</source>
            <translation>用于其他种类的模型：{names}</translation>
        </message>
    </context>
    <context>
        <name>OpenModelWizard</name>
        <message>
            <source>Open a model</source>
            <translation>打开模型</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>Open {name}</source>
            <translation>打开 {name}</translation>
        </message>
    </context>
    <context>
        <name>PartsBar</name>
        <message>
            <source>Embedding</source>
            <translation>嵌入</translation>
        </message>
        <message>
            <source>Attention</source>
            <translation>注意力</translation>
        </message>
        <message>
            <source>MLP</source>
            <translation>MLP</translation>
        </message>
        <message>
            <source>Norms</source>
            <translation>归一化</translation>
        </message>
        <message>
            <source>Output head</source>
            <translation>输出头</translation>
        </message>
        <message>
            <source>Other</source>
            <translation>其他</translation>
        </message>
    </context>
    <context>
        <name>PlotSlot</name>
        <message>
            <source>Which plot</source>
            <translation>哪张图</translation>
        </message>
        <message>
            <source>Choose what is plotted here</source>
            <translation>选择这里画什么</translation>
        </message>
    </context>
    <context>
        <name>ProviderChoice</name>
        <message>
            <source>Execution provider</source>
            <translation>执行提供程序</translation>
        </message>
        <message>
            <source>What onnxruntime computes by, of what this installation has; what that can't compute, the CPU does</source>
            <translation>onnxruntime 用什么计算，限于本安装所具备的；它算不了的由 CPU 计算</translation>
        </message>
        <message>
            <source>Ask onnxruntime what it has</source>
            <translation>询问 onnxruntime 具备什么</translation>
        </message>
    </context>
    <context>
        <name>ReplayBar</name>
        <message>
            <source>One step on: draft, verify, correct</source>
            <translation>前进一步：打草稿、验证、更正</translation>
        </message>
        <message>
            <source>Rounds shown</source>
            <translation>已显示的轮次</translation>
        </message>
        <message>
            <source>Drag through the rounds of this run</source>
            <translation>拖动以浏览本次运行的各轮</translation>
        </message>
        <message>
            <source>Replay speed</source>
            <translation>回放速度</translation>
        </message>
        <message>
            <source>Replay speed: {times}1 is as fast as it was</source>
            <translation>回放速度：{times}1 即与当时一样快</translation>
        </message>
        <message>
            <source>Pause the replay</source>
            <translation>暂停回放</translation>
        </message>
        <message>
            <source>Replay this run</source>
            <translation>回放本次运行</translation>
        </message>
        <message>
            <source>round {done} of {of} · {seconds}</source>
            <translation>第 {done} 轮，共 {of} 轮 · {seconds}</translation>
        </message>
        <message>
            <source>{n} s</source>
            <translation>{n} 秒</translation>
        </message>
    </context>
    <context>
        <name>ReviewPage</name>
        <message>
            <source>Review</source>
            <translation>确认</translation>
        </message>
        <message>
            <source>Ready to start</source>
            <translation>可以开始</translation>
        </message>
        <message>
            <source>The work goes on in the background; the window stays free.</source>
            <translation>工作在后台进行；窗口始终可用。</translation>
        </message>
        <message>
            <source>The same seed gives the same weights on the same machine</source>
            <translation>在同一台机器上，相同的种子得到相同的权重</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>种子</translation>
        </message>
        <message>
            <source>Measure it afterwards: perplexity, difference from the original, speed</source>
            <translation>完成后测量：困惑度、与原始模型的差异、速度</translation>
        </message>
        <message>
            <source>Without a measurement the variant has no place on the plot</source>
            <translation>没有测量，变体在图上就没有位置</translation>
        </message>
        <message>
            <source>On the held-out text that comes with Spokeshave</source>
            <translation>用 Spokeshave 自带的留出文本</translation>
        </message>
        <message>
            <source>Recipe</source>
            <translation>配方</translation>
        </message>
        <message>
            <source>spokeshave-cli run makes the same variant from it</source>
            <translation>spokeshave-cli run 可由它制作出同样的变体</translation>
        </message>
        <message>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <source>Measure it afterwards: accuracy on the examples held out, speed</source>
            <translation>完成后测量：留出样本上的准确率、速度</translation>
        </message>
        <message>
            <source>Measure it afterwards: likeness to the images, speed</source>
            <translation>之后测量：与图像的相似度、速度</translation>
        </message>
        <message>
            <source>Measure it afterwards: difference from the original, speed</source>
            <translation>完成后测量：与原模型的差异、速度</translation>
        </message>
        <message>
            <source>Copied</source>
            <translation>已复制</translation>
        </message>
        <message>
            <source>Ready to export</source>
            <translation>可以导出</translation>
        </message>
        <message>
            <source>It's called done only when another program computes what torch does.</source>
            <translation>只有另一个程序算出与 torch 相同的结果，才算完成。</translation>
        </message>
        <message>
            <source>Device for the comparison</source>
            <translation>用于对比的设备</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>Format</source>
            <translation>格式</translation>
        </message>
        <message>
            <source>Folder</source>
            <translation>文件夹</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <source>about {size}, an estimate; {now} now</source>
            <translation>约 {size}（估计）；目前 {now}</translation>
        </message>
        <message>
            <source>Checks</source>
            <translation>检查</translation>
        </message>
        <message>
            <source>It's packed for keeping and sending. To use it, restore the folder: spokeshave-cli unpack-sparse FILE.</source>
            <translation>打包用于保存和发送。使用前请还原文件夹：spokeshave-cli unpack-sparse FILE。</translation>
        </message>
        <message>
            <source>Its own grid is kept where a type of GGUF's holds it; layers that had to be quantized again are counted.</source>
            <translation>若 GGUF 的某种类型能容纳它自身的网格，则保留；不得不重新量化的层会被计数。</translation>
        </message>
        <message>
            <source>Its own grid is written as it is, packed; nothing is quantized again.</source>
            <translation>按其自身的网格原样打包写出；不再重新量化。</translation>
        </message>
        <message>
            <source>What's in the folder now is replaced once the export is whole.</source>
            <translation>导出完整后，文件夹中现有的内容将被替换。</translation>
        </message>
        <message>
            <source>read back by plain transformers; its logits against what was written; header and tokenizer</source>
            <translation>由普通 transformers 读回；其 logit 与写入内容对比；文件头和分词器</translation>
        </message>
        <message>
            <source>unpacked again, every file compared by its sha256</source>
            <translation>重新解包，逐个文件比较 sha256</translation>
        </message>
        <message>
            <source>loads; logits against torch; the same greedy tokens; every data byte referenced</source>
            <translation>能否加载；与 torch 对比 logit；贪心词元是否相同；数据的每个字节是否都被引用</translation>
        </message>
        <message>
            <source>loads; outputs at several levels of noise against torch; the same images from the same noise</source>
            <translation>能否加载；在几级噪声下与 torch 对比输出；由同一噪声得到相同的图像</translation>
        </message>
        <message>
            <source>loads; outputs against torch; padded batches; every data byte referenced</source>
            <translation>能否加载；与 torch 对比输出；带填充的批次；数据的每个字节是否都被引用</translation>
        </message>
        <message>
            <source>Ready to open</source>
            <translation>可以打开</translation>
        </message>
        <message>
            <source>the held-out text that comes with Spokeshave</source>
            <translation>Spokeshave 自带的留出文本</translation>
        </message>
        <message>
            <source>the handwritten digits</source>
            <translation>手写数字</translation>
        </message>
        <message>
            <source>Fréchet distance to {images}; speed</source>
            <translation>与{images}的 Fréchet 距离；速度</translation>
        </message>
        <message>
            <source>perplexity on {text}, at most {n} tokens; speed</source>
            <translation>{text}上的困惑度，最多 {n} 个词元；速度</translation>
        </message>
        <message>
            <source>nothing, so it has no place on the plot yet</source>
            <translation>不测量，因此它在图上还没有位置</translation>
        </message>
        <message>
            <source>as it's stored</source>
            <translation>与存储时相同</translation>
        </message>
        <message>
            <source>Source</source>
            <translation>来源</translation>
        </message>
        <message>
            <source>unknown</source>
            <translation>未知</translation>
        </message>
        <message>
            <source>Weights</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>Measured</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>Workspace</source>
            <translation>工作区</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>下载</translation>
        </message>
    </context>
    <context>
        <name>SamplesView</name>
        <message>
            <source>No samples</source>
            <translation>没有样例</translation>
        </message>
        <message>
            <source>A training shows here what teacher and student say after the same beginnings.</source>
            <translation>训练时，这里显示教师和学生在相同开头之后说什么。</translation>
        </message>
        <message>
            <source>The samples before</source>
            <translation>上一组样例</translation>
        </message>
        <message>
            <source>Step whose samples are shown</source>
            <translation>显示其样例的步</translation>
        </message>
        <message>
            <source>The samples after</source>
            <translation>下一组样例</translation>
        </message>
        <message>
            <source>Show in a window of its own</source>
            <translation>在单独的窗口中显示</translation>
        </message>
        <message>
            <source>Samples</source>
            <translation>样例</translation>
        </message>
        <message>
            <source>Step {n}</source>
            <translation>第 {n} 步</translation>
        </message>
        <message>
            <source>kept: this is what the variant says</source>
            <translation>已保留：变体说的就是这些</translation>
        </message>
        <message>
            <source>kept</source>
            <translation>已保留</translation>
        </message>
        <message>
            <source>the latest</source>
            <translation>最新</translation>
        </message>
        <message>
            <source>{share} of the tokens as the teacher</source>
            <translation>{share} 的词元与教师相同</translation>
        </message>
        <message>
            <source>Before</source>
            <translation>之前</translation>
        </message>
        <message>
            <source>Now</source>
            <translation>现在</translation>
        </message>
        <message>
            <source>Teacher</source>
            <translation>教师</translation>
        </message>
        <message>
            <source>Student</source>
            <translation>学生</translation>
        </message>
        <message>
            <source>as before</source>
            <translation>与之前相同</translation>
        </message>
        <message>
            <source>as the teacher</source>
            <translation>与教师相同</translation>
        </message>
        <message>
            <source>parts here</source>
            <translation>在此分开</translation>
        </message>
        <message>
            <source>other</source>
            <translation>不同</translation>
        </message>
        <message>
            <source>{who}: {words}</source>
            <translation>{who}：{words}</translation>
        </message>
        <message>
            <source>Beginning</source>
            <translation>开头</translation>
        </message>
        <message>
            <source>Example</source>
            <translation>样例</translation>
        </message>
        <message>
            <source>Label</source>
            <translation>标签</translation>
        </message>
        <message>
            <source>Right by the label</source>
            <translation>与标签相符</translation>
        </message>
        <message>
            <source>Wrong by the label</source>
            <translation>与标签不符</translation>
        </message>
        <message>
            <source>Fréchet {value}</source>
            <translation>Fréchet {value}</translation>
        </message>
        <message>
            <source>Fréchet distance of {n} drawings from the images: lower is more alike. Fewer drawings are further away, so only those of as many compare.</source>
            <translation>{n} 幅画与图像的 Fréchet 距离：越低越相似。画得越少距离越大，因此只有数目相同的才能比较。</translation>
        </message>
        <message>
            <source>Teacher, {n} steps</source>
            <translation>教师，{n} 步</translation>
        </message>
        <message>
            <source>Student, {n} steps</source>
            <translation>学生，{n} 步</translation>
        </message>
    </context>
    <context>
        <name>SensitivityDialog</name>
        <message>
            <source>Sensitivity</source>
            <translation>敏感度</translation>
        </message>
        <message>
            <source>How far the model's outputs move (KL, nats a token) when one layer alone is quantized. Bits are spent where they matter: move the budget, change single cells, and start the variant that comes of it.</source>
            <translation>只量化某一层时模型输出偏移多少（KL，每词元纳特）。把位数用在要紧之处：移动预算、修改单个格子，然后制作由此得到的变体。</translation>
        </message>
        <message>
            <source>The variant isn't here</source>
            <translation>变体不在这里</translation>
        </message>
        <message>
            <source>Choose a variant that isn't quantized in the tree.</source>
            <translation>请在树中选择一个未量化的变体。</translation>
        </message>
        <message>
            <source>Measure</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>Tries every layer at every width (Ctrl+Enter)</source>
            <translation>以每种位宽逐层尝试 (Ctrl+Enter)</translation>
        </message>
        <message>
            <source>Measure again…</source>
            <translation>重新测量…</translation>
        </message>
        <message>
            <source>With other windows, groups or text. The map that's here stays kept.</source>
            <translation>用其他窗口、分组或文本。现有的敏感度图会保留。</translation>
        </message>
        <message>
            <source>Apply</source>
            <translation>应用</translation>
        </message>
        <message>
            <source>Starts the job that makes this variant</source>
            <translation>开始制作该变体的任务</translation>
        </message>
        <message>
            <source>What to measure</source>
            <translation>测量什么</translation>
        </message>
        <message>
            <source>{n} columns</source>
            <translation>{n} 列</translation>
        </message>
        <message>
            <source> tokens</source>
            <translation> 个词元</translation>
        </message>
        <message>
            <source>Group size</source>
            <translation>分组大小</translation>
        </message>
        <message>
            <source>Columns that share a scale below 8 bits; the next smaller that fits the model.</source>
            <translation>低于 8 位时共用一个缩放系数的列数；取适合模型的下一个较小值。</translation>
        </message>
        <message>
            <source>Windows</source>
            <translation>窗口数</translation>
        </message>
        <message>
            <source>Of the text, drawn from all over it. More are steadier and take longer.</source>
            <translation>从文本各处抽取的窗口数。越多越稳定，耗时也越长。</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <source>Tokens a window.</source>
            <translation>每个窗口的词元数。</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>The starter's training text</source>
            <translation>入门模型的训练文本</translation>
        </message>
        <message>
            <source>Every linear layer is tried at 8, 6, 5, 4, 3 and 2 bits. It may be cancelled: what's measured is kept, and goes on from there.</source>
            <translation>每个线性层都以 8、6、5、4、3、2 位尝试。可以取消：已测得的会保留，之后从那里继续。</translation>
        </message>
        <message>
            <source>Chosen</source>
            <translation>所选</translation>
        </message>
        <message>
            <source>KL at the bits chosen for each layer</source>
            <translation>各层在所选位数下的 KL</translation>
        </message>
        <message>
            <source>KL of each layer at {n} bits</source>
            <translation>各层在 {n} 位下的 KL</translation>
        </message>
        <message>
            <source>KL in nats a token, on a logarithmic scale</source>
            <translation>KL，每词元纳特，对数刻度</translation>
        </message>
        <message>
            <source>Layers by kind: bits and KL</source>
            <translation>按种类列出的层：位数和 KL</translation>
        </message>
        <message>
            <source>Budget</source>
            <translation>预算</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <source>KL</source>
            <translation>KL</translation>
        </message>
        <message>
            <source>Projected</source>
            <translation>预计</translation>
        </message>
        <message>
            <source>Size on disk, estimate</source>
            <translation>磁盘大小（估计）</translation>
        </message>
        <message>
            <source>Sum of KLs, estimate</source>
            <translation>KL 之和（估计）</translation>
        </message>
        <message>
            <source>Bits a weight</source>
            <translation>每权重位数</translation>
        </message>
        <message>
            <source>One width for all</source>
            <translation>全部用同一位宽</translation>
        </message>
        <message>
            <source>Cells set by hand follow the budget again (Delete frees one)</source>
            <translation>手动设置的格子重新随预算变化（Delete 解除一个）</translation>
        </message>
        <message>
            <source>Only 8 and 4 bits</source>
            <translation>仅 8 和 4 位</translation>
        </message>
        <message>
            <source>There are kernels for these two on the CPU; the other widths are unpacked to be computed with.</source>
            <translation>CPU 上有这两种位宽的内核；其他位宽需解包后才能计算。</translation>
        </message>
        <message>
            <source>Rounding</source>
            <translation>舍入</translation>
        </message>
        <message>
            <source>Half-quadratic</source>
            <translation>半二次</translation>
        </message>
        <message>
            <source>Round to nearest</source>
            <translation>就近舍入</translation>
        </message>
        <message>
            <source>How the variant is rounded. The map itself was measured with rounding to nearest.</source>
            <translation>变体的舍入方式。敏感度图本身是用就近舍入测得的。</translation>
        </message>
        <message>
            <source>The variant isn't in the workspace any more.</source>
            <translation>该变体已不在工作区中。</translation>
        </message>
        <message>
            <source>It's quantized already. Choose the variant that it came from.</source>
            <translation>它已经量化过了。请选择它的来源变体。</translation>
        </message>
        <message>
            <source>It gives no probabilities, so there is no KL to measure.</source>
            <translation>它不给出概率，因此没有 KL 可测。</translation>
        </message>
        <message>
            <source>Choose a text file.</source>
            <translation>请选择一个文本文件。</translation>
        </message>
        <message>
            <source>Sensitivity of {name}</source>
            <translation>{name} 的敏感度</translation>
        </message>
        <message>
            <source>One width…</source>
            <translation>同一位宽…</translation>
        </message>
        <message>
            <source>{n} bits</source>
            <translation>{n} 位</translation>
        </message>
        <message>
            <source>All of block {n}</source>
            <translation>第 {n} 块全部</translation>
        </message>
        <message>
            <source>All {kind}</source>
            <translation>所有 {kind}</translation>
        </message>
        <message>
            <source>{width}: {size}, KL {kl}</source>
            <translation>{width}：{size}，KL {kl}</translation>
        </message>
        <message>
            <source>As it is</source>
            <translation>保持原样</translation>
        </message>
        <message>
            <source>Block {block}, {kind}: {width}, KL {kl}, {size} ({rows} × {columns})</source>
            <translation>第 {block} 块，{kind}：{width}，KL {kl}，{size}（{rows} × {columns}）</translation>
        </message>
        <message>
            <source>set by hand</source>
            <translation>手动设置</translation>
        </message>
        <message>
            <source>Keys 8 6 5 4 3 2 set the bits, 0 leaves the layer as it is, + and − go one width on, Delete frees it.</source>
            <translation>按键 8 6 5 4 3 2 设置位数，0 使该层保持原样，+ 和 − 切换到相邻位宽，Delete 解除固定。</translation>
        </message>
        <message>
            <source>{n} nats</source>
            <translation>{n} 纳特</translation>
        </message>
        <message>
            <source>At most {value}</source>
            <translation>至多 {value}</translation>
        </message>
        <message>
            <source>At most {value}; what's set by hand goes over it.</source>
            <translation>至多 {value}；手动设置的部分超出了它。</translation>
        </message>
        <message>
            <source>{width} {n}</source>
            <translation>{width}：{n}</translation>
        </message>
        <message>
            <source>Layers: {counts}</source>
            <translation>层数：{counts}</translation>
        </message>
        <message>
            <source>Free {n}</source>
            <translation>解除 {n} 个</translation>
        </message>
        <message>
            <source>{name}, from {source}</source>
            <translation>{name}，源自 {source}</translation>
        </message>
        <message>
            <source>Started: {name}. Its progress is in the list of jobs.</source>
            <translation>已开始：{name}。进度见任务列表。</translation>
        </message>
    </context>
    <context>
        <name>SettingsDialog</name>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>As the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <source>All but the window's share</source>
            <translation>除窗口所需外的全部</translation>
        </message>
        <message>
            <source>&amp;Theme</source>
            <translation>主题(&amp;T)</translation>
        </message>
        <message>
            <source>&amp;Language</source>
            <translation>语言(&amp;L)</translation>
        </message>
        <message>
            <source>T&amp;hreads of a worker</source>
            <translation>工作进程的线程数(&amp;H)</translation>
        </message>
        <message>
            <source>Threads apply from the next start. Each job's form names its device.</source>
            <translation>线程数从下次启动起生效。设备在各任务的表单中选择。</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>保存</translation>
        </message>
    </context>
    <context>
        <name>ShortcutsDialog</name>
        <message>
            <source>Keyboard shortcuts</source>
            <translation>键盘快捷键</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
    </context>
    <context>
        <name>SourcePage</name>
        <message>
            <source>Source</source>
            <translation>来源</translation>
        </message>
        <message>
            <source>Which model?</source>
            <translation>哪个模型？</translation>
        </message>
        <message>
            <source>A new variant is made from it. The one that you choose stays as it is.</source>
            <translation>将由它制作一个新变体。你选择的模型保持原样。</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>What's exported runs in other programs, without Python and without torch.</source>
            <translation>导出的模型可在其他程序中运行，不需要 Python，也不需要 torch。</translation>
        </message>
        <message>
            <source>Where is the model?</source>
            <translation>模型在哪里？</translation>
        </message>
        <message>
            <source>A copy is made in the workspace. What you open is never changed.</source>
            <translation>会在工作区中制作一份副本。你打开的内容绝不会被更改。</translation>
        </message>
        <message>
            <source>/path/to/model  or  organisation/model</source>
            <translation>/路径/到/模型  或  组织/模型</translation>
        </message>
        <message>
            <source>Path, or id on the Hugging Face Hub</source>
            <translation>路径，或 Hugging Face Hub 上的标识</translation>
        </message>
        <message>
            <source>Shakespeare 7M</source>
            <translation>Shakespeare 7M</translation>
        </message>
        <message>
            <source>A small language model that comes with Spokeshave.</source>
            <translation>Spokeshave 自带的小型语言模型。</translation>
        </message>
        <message>
            <source>Shakespeare 1M</source>
            <translation>Shakespeare 1M</translation>
        </message>
        <message>
            <source>A smaller one with the same tokens: a draft for the other.</source>
            <translation>词元相同的更小模型：可为前者打草稿。</translation>
        </message>
        <message>
            <source>Digits</source>
            <translation>数字</translation>
        </message>
        <message>
            <source>A small diffusion model that draws handwritten digits.</source>
            <translation>一个画手写数字的小扩散模型。</translation>
        </message>
        <message>
            <source>Or begin with a starter model</source>
            <translation>或者从入门模型开始</translation>
        </message>
        <message>
            <source>A folder with config.json and .safetensors files, a .gguf file, or an id such as {example}.</source>
            <translation>含有 config.json 和 .safetensors 文件的文件夹、.gguf 文件，或如 {example} 这样的标识。</translation>
        </message>
        <message>
            <source>A folder on this machine.</source>
            <translation>本机上的文件夹。</translation>
        </message>
        <message>
            <source>A GGUF file. Its weights are unpacked into an ordinary model.</source>
            <translation>GGUF 文件。它的权重会被解包成普通模型。</translation>
        </message>
        <message>
            <source>An id on the Hub. It's looked up when you go on; nothing is downloaded yet.</source>
            <translation>Hub 上的标识。点“下一步”时才会查询；现在不会下载任何内容。</translation>
        </message>
        <message>
            <source>There is nothing at this path.</source>
            <translation>这个路径上什么也没有。</translation>
        </message>
        <message>
            <source>This file isn't a model.</source>
            <translation>这个文件不是模型。</translation>
        </message>
        <message>
            <source>Choose the model's folder</source>
            <translation>选择模型的文件夹</translation>
        </message>
        <message>
            <source>Choose a GGUF file</source>
            <translation>选择 GGUF 文件</translation>
        </message>
        <message>
            <source>GGUF files (*.gguf);;All files (*)</source>
            <translation>GGUF 文件 (*.gguf);;所有文件 (*)</translation>
        </message>
    </context>
    <context>
        <name>SpeedBars</name>
        <message>
            <source>not measured</source>
            <translation>未测量</translation>
        </message>
        <message>
            <source>How many times as fast as {name}</source>
            <translation>是 {name} 速度的多少倍</translation>
        </message>
        <message>
            <source>{name}, torch</source>
            <translation>{name}，torch</translation>
        </message>
    </context>
    <context>
        <name>Stage</name>
        <message>
            <source>{draft} drafts for {target}</source>
            <translation>{draft} 为 {target} 打草稿</translation>
        </message>
        <message>
            <source>{target}, plain</source>
            <translation>{target}，普通解码</translation>
        </message>
        <message>
            <source>{share} of tested guesses kept</source>
            <translation>已检验的猜测保留了 {share}</translation>
        </message>
        <message>
            <source>{n} tokens per target call</source>
            <translation>每次目标调用 {n} 个词元</translation>
        </message>
        <message>
            <source>{times}{x} against plain</source>
            <translation>相对普通解码 {times}{x}</translation>
        </message>
        <message>
            <source>{n} s</source>
            <translation>{n} 秒</translation>
        </message>
    </context>
    <context>
        <name>StatusBar</name>
        <message>
            <source>1 job running</source>
            <translation>1 个任务运行中</translation>
        </message>
        <message>
            <source>{n} jobs running</source>
            <translation>{n} 个任务运行中</translation>
        </message>
        <message>
            <source>{n} paused</source>
            <translation>{n} 个已暂停</translation>
        </message>
        <message>
            <source>{n} queued</source>
            <translation>{n} 个排队</translation>
        </message>
        <message>
            <source>No jobs running</source>
            <translation>没有任务在运行</translation>
        </message>
        <message>
            <source>{n} busy</source>
            <translation>{n} 个忙碌</translation>
        </message>
        <message>
            <source>{n} holding models</source>
            <translation>{n} 个持有模型</translation>
        </message>
        <message>
            <source>{n} spare, warm</source>
            <translation>{n} 个备用，已预热</translation>
        </message>
        <message>
            <source>{n} starting</source>
            <translation>{n} 个正在启动</translation>
        </message>
        <message>
            <source>Workers: {state}</source>
            <translation>工作进程：{state}</translation>
        </message>
        <message>
            <source>none yet</source>
            <translation>还没有</translation>
        </message>
        <message>
            <source>CPU · 1 thread</source>
            <translation>CPU · 1 个线程</translation>
        </message>
        <message>
            <source>CPU · {n} threads</source>
            <translation>CPU · {n} 线程</translation>
        </message>
        <message>
            <source>Device not known yet</source>
            <translation>设备尚不清楚</translation>
        </message>
        <message>
            <source>{used} of {total} used</source>
            <translation>已用 {used}，共 {total}</translation>
        </message>
        <message>
            <source>Memory of this computer; free: {free}</source>
            <translation>本机内存；可用：{free}</translation>
        </message>
        <message>
            <source>The worker holds {resident}</source>
            <translation>工作进程占用 {resident}</translation>
        </message>
        <message>
            <source>GPU {used} used</source>
            <translation>GPU 已用 {used}</translation>
        </message>
        <message>
            <source>GPU {used} used, {free} free</source>
            <translation>GPU 已用 {used}，可用 {free}</translation>
        </message>
    </context>
    <context>
        <name>Steps</name>
        <message>
            <source>Step {n} of {total}: {name}</source>
            <translation>第 {n} 步，共 {total} 步：{name}</translation>
        </message>
    </context>
    <context>
        <name>TextChoice</name>
        <message>
            <source>Choose a text</source>
            <translation>选择文本</translation>
        </message>
        <message>
            <source>Text files (*.txt *.md *.text);;All files (*)</source>
            <translation>文本文件 (*.txt *.md *.text);;所有文件 (*)</translation>
        </message>
        <message>
            <source>A text file of my own</source>
            <translation>我自己的文本文件</translation>
        </message>
    </context>
    <context>
        <name>TokenCard</name>
        <message>
            <source>Why this token</source>
            <translation>为什么是这个词元</translation>
        </message>
    </context>
    <context>
        <name>TokenFlow</name>
        <message>
            <source>Token flow</source>
            <translation>词元流</translation>
        </message>
        <message>
            <source>Arrow keys move from token to token, Enter keeps a token's card open, Ctrl+C copies the text.</source>
            <translation>方向键在词元间移动，Enter 让词元的卡片保持打开，Ctrl+C 复制文本。</translation>
        </message>
        <message>
            <source>Copy text</source>
            <translation>复制文本</translation>
        </message>
        <message>
            <source>Copy this token</source>
            <translation>复制这个词元</translation>
        </message>
        <message>
            <source>Explain this token</source>
            <translation>解释这个词元</translation>
        </message>
    </context>
    <context>
        <name>ToolDialog</name>
        <message>
            <source>Details</source>
            <translation>详情</translation>
        </message>
        <message>
            <source>Progress</source>
            <translation>进度</translation>
        </message>
        <message>
            <source>Start</source>
            <translation>开始</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Ends the work (Esc). What was measured so far stays in sight.</source>
            <translation>结束工作（Esc）。已测得的内容保留可见。</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Waiting for its turn: {job} is at work…</source>
            <translation>等待轮到它：正在进行 {job}…</translation>
        </message>
        <message>
            <source>Starting…</source>
            <translation>正在开始…</translation>
        </message>
        <message>
            <source>Cancelling…</source>
            <translation>正在取消…</translation>
        </message>
        <message>
            <source>Loading the models…</source>
            <translation>正在加载模型…</translation>
        </message>
        <message>
            <source>Cancelled.</source>
            <translation>已取消。</translation>
        </message>
    </context>
    <context>
        <name>TradeoffPlot</name>
        <message>
            <source>Trade-off plot</source>
            <translation>权衡图</translation>
        </message>
        <message>
            <source>Size on disk (MB, log scale)</source>
            <translation>磁盘大小（MB，对数刻度）</translation>
        </message>
        <message>
            <source>Parameters (millions, log scale)</source>
            <translation>参数量（百万，对数刻度）</translation>
        </message>
        <message>
            <source>Resident memory (MB, log scale)</source>
            <translation>常驻内存（MB，对数刻度）</translation>
        </message>
        <message>
            <source>Decode speed (tokens/s, log scale; right is better)</source>
            <translation>解码速度（词元/秒，对数刻度；越靠右越好）</translation>
        </message>
        <message>
            <source>Prefill speed (tokens/s, log scale; right is better)</source>
            <translation>预填充速度（词元/秒，对数刻度；越靠右越好）</translation>
        </message>
        <message>
            <source>Drawing speed (images/s, log scale; right is better)</source>
            <translation>绘图速度（张/秒，对数刻度；越靠右越好）</translation>
        </message>
        <message>
            <source>{title} ({unit}log scale, up is better)</source>
            <translation>{title}（{unit}对数刻度，越靠上越好）</translation>
        </message>
        <message>
            <source>best: {name}</source>
            <translation>最佳：{name}</translation>
        </message>
        <message>
            <source>nothing fits</source>
            <translation>没有符合的</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <source> and {n} more</source>
            <translation> 等另外 {n} 个</translation>
        </message>
        <message>
            <source>Indistinguishable from {names}{more}</source>
            <translation>与 {names}{more} 无法区分</translation>
        </message>
        <message>
            <source>Measured under other conditions</source>
            <translation>在其他条件下测量</translation>
        </message>
        <message>
            <source>Size, estimated</source>
            <translation>大小（估计）</translation>
        </message>
        <message>
            <source>Being made</source>
            <translation>正在制作</translation>
        </message>
    </context>
    <context>
        <name>TradeoffView</name>
        <message>
            <source>Size on disk</source>
            <translation>磁盘大小</translation>
        </message>
        <message>
            <source>Parameters</source>
            <translation>参数量</translation>
        </message>
        <message>
            <source>Resident memory</source>
            <translation>常驻内存</translation>
        </message>
        <message>
            <source>Decode speed</source>
            <translation>解码速度</translation>
        </message>
        <message>
            <source>What the horizontal axis shows</source>
            <translation>横轴显示什么</translation>
        </message>
        <message>
            <source>What the vertical axis shows</source>
            <translation>纵轴显示什么</translation>
        </message>
        <message>
            <source>A line that you drag: the best variant within it is marked</source>
            <translation>可以拖动的线：其范围内最好的变体会被标出</translation>
        </message>
        <message>
            <source>Budget line</source>
            <translation>预算线</translation>
        </message>
        <message>
            <source>No budget</source>
            <translation>无预算</translation>
        </message>
        <message>
            <source>Budget across</source>
            <translation>横向预算</translation>
        </message>
        <message>
            <source>Budget upwards</source>
            <translation>纵向预算</translation>
        </message>
        <message>
            <source>against</source>
            <translation>对</translation>
        </message>
        <message>
            <source>Show everything again (double-click an empty place)</source>
            <translation>重新显示全部（双击空白处）</translation>
        </message>
        <message>
            <source>No models yet</source>
            <translation>还没有模型</translation>
        </message>
        <message>
            <source>Open a model to see how small it can get.
Drop a folder or a .gguf file here.</source>
            <translation>打开一个模型，看看它能变得多小。
也可把文件夹或 .gguf 文件拖到这里。</translation>
        </message>
        <message>
            <source>Open a model…</source>
            <translation>打开模型…</translation>
        </message>
        <message>
            <source>Open the starter models</source>
            <translation>打开入门模型</translation>
        </message>
        <message>
            <source>Evaluate…</source>
            <translation>评测…</translation>
        </message>
        <message>
            <source>Nothing to plot on these axes</source>
            <translation>这两个坐标轴上没有可画的</translation>
        </message>
        <message>
            <source>No variant has both figures: {y} and {x}. Measuring one gives the plot its first point.</source>
            <translation>没有变体同时具有 {y} 与 {x} 两个数值。测量一个，图上就有第一个点。</translation>
        </message>
        <message>
            <source>Waiting for its turn</source>
            <translation>等待轮到它</translation>
        </message>
        <message>
            <source>Its first point appears here when it has been measured.</source>
            <translation>测量完成后，它的第一个点会出现在这里。</translation>
        </message>
        <message>
            <source>Not shown, for want of a figure ({what}): {names}</source>
            <translation>因缺少数值（{what}）而未显示：{names}</translation>
        </message>
        <message>
            <source>Hollow points were measured under other conditions: they can't be compared with the rest.</source>
            <translation>空心点是在其他条件下测量的：不能与其余的比较。</translation>
        </message>
        <message>
            <source>Small points: the same model in so many steps.</source>
            <translation>小点：同一模型用相应的步数。</translation>
        </message>
        <message>
            <source>Show: {what}</source>
            <translation>显示：{what}</translation>
        </message>
        <message>
            <source>Show each number of steps, against drawing speed</source>
            <translation>显示每种步数，对照绘图速度</translation>
        </message>
    </context>
    <context>
        <name>TriedModel</name>
        <message>
            <source>Way to draft</source>
            <translation>打草稿的方式</translation>
        </message>
        <message>
            <source>Who guesses the next tokens.</source>
            <translation>由谁猜接下来的词元。</translation>
        </message>
        <message>
            <source>Acceptance: how likely a guess is to be kept, the mean of Σ min(p, q) over the tested positions.</source>
            <translation>接受率：猜测被保留的可能性，即各已检验位置上 Σ min(p, q) 的平均。</translation>
        </message>
        <message>
            <source>Cost: the time of one draft step as a share of one target step. 0 is free, 1 as slow as the target.</source>
            <translation>代价：一步草稿所用时间占一步目标的比例。0 为没有代价，1 与目标模型一样慢。</translation>
        </message>
        <message>
            <source>Draft length that pays most by prediction; the speed was measured with at most so many.</source>
            <translation>预测最划算的草稿长度；测速时最多用这么长。</translation>
        </message>
        <message>
            <source>Predicted</source>
            <translation>预测</translation>
        </message>
        <message>
            <source>Speed-up over plain decoding worked out from α and the measured costs.</source>
            <translation>由 α 与实测代价算出的相对普通解码的加速比。</translation>
        </message>
        <message>
            <source>Measured</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>Speed-up over plain decoding by the clock, the median of repeats. ≈: faster in some, slower in others.</source>
            <translation>实测的相对普通解码的加速比，取各次重复的中位数。≈：有时更快，有时更慢。</translation>
        </message>
        <message>
            <source>Tokens/call</source>
            <translation>词元/调用</translation>
        </message>
        <message>
            <source>New tokens for each call of the target; plain decoding has 1.</source>
            <translation>目标模型每次调用得到的新词元数；普通解码为 1。</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>What it holds in memory besides the target.</source>
            <translation>除目标模型外它占用的内存。</translation>
        </message>
        <message>
            <source>Can't pay: {speed} at most</source>
            <translation>不可能划算：最多 {speed}</translation>
        </message>
    </context>
    <context>
        <name>TriedTable</name>
        <message>
            <source>Ways to draft</source>
            <translation>打草稿的方式</translation>
        </message>
    </context>
    <context>
        <name>TryExportDialog</name>
        <message>
            <source>Try the export</source>
            <translation>试用导出结果</translation>
        </message>
        <message>
            <source>Generate with the exported files</source>
            <translation>用导出的文件生成</translation>
        </message>
        <message>
            <source>onnxruntime runs {folder}; torch has no part in it.</source>
            <translation>由 onnxruntime 运行 {folder}；torch 没有参与。</translation>
        </message>
        <message>
            <source>Prompt</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>个词元</translation>
        </message>
        <message>
            <source>Generate</source>
            <translation>生成</translation>
        </message>
        <message>
            <source>Ctrl+Enter</source>
            <translation>Ctrl+Enter</translation>
        </message>
        <message>
            <source>What the model writes appears here, token by token.</source>
            <translation>模型写出的内容会逐词元显示在这里。</translation>
        </message>
        <message>
            <source>Generated text</source>
            <translation>生成的文本</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Stopping …</source>
            <translation>正在停止…</translation>
        </message>
        <message>
            <source>Loading …</source>
            <translation>正在加载…</translation>
        </message>
        <message>
            <source>Try {folder}</source>
            <translation>试用 {folder}</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>Write a prompt first.</source>
            <translation>请先写一段提示词。</translation>
        </message>
        <message>
            <source>{n} tokens</source>
            <translation>{n} 个词元</translation>
        </message>
        <message>
            <source>Cancelled.</source>
            <translation>已取消。</translation>
        </message>
        <message>
            <source>{n} tokens/s</source>
            <translation>{n} 词元/秒</translation>
        </message>
        <message>
            <source>Measured by onnxruntime while it wrote; the prompt isn't counted</source>
            <translation>由 onnxruntime 在写出时测得；不含提示词</translation>
        </message>
        <message>
            <source>{n} tokens, by onnxruntime alone.</source>
            <translation>{n} 个词元，仅由 onnxruntime 生成。</translation>
        </message>
    </context>
    <context>
        <name>VariantEditor</name>
        <message>
            <source>None chosen</source>
            <translation>未选择</translation>
        </message>
        <message>
            <source>Choose a variant</source>
            <translation>选择一个变体</translation>
        </message>
    </context>
    <context>
        <name>WhatPage</name>
        <message>
            <source>What it is</source>
            <translation>它是什么</translation>
        </message>
        <message>
            <source>Read from headers and configuration, before anything is copied.</source>
            <translation>从文件头和配置读取，此时尚未复制任何东西。</translation>
        </message>
        <message>
            <source>What it draws</source>
            <translation>它画什么</translation>
        </message>
        <message>
            <source>Parameters by component</source>
            <translation>各部分的参数量</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <source>Run the code that comes with this model. I trust whoever made it.</source>
            <translation>运行这个模型附带的代码。我信任它的作者。</translation>
        </message>
        <message>
            <source>Such code can do on this machine whatever you can do</source>
            <translation>这样的代码在本机上能做你能做的一切</translation>
        </message>
        <message>
            <source>The worker is still starting; it reads the model in a few seconds.</source>
            <translation>工作进程仍在启动；几秒后会读取模型。</translation>
        </message>
        <message>
            <source>Asking the Hub …</source>
            <translation>正在询问 Hub…</translation>
        </message>
        <message>
            <source>Reading the headers …</source>
            <translation>正在读取文件头…</translation>
        </message>
        <message>
            <source>Opening it will download {size} from the Hub.</source>
            <translation>打开它将从 Hub 下载 {size}。</translation>
        </message>
        <message>
            <source>Drawing …</source>
            <translation>正在绘制…</translation>
        </message>
        <message>
            <source>In {n} steps, not chosen among others</source>
            <translation>{n} 步，未经挑选</translation>
        </message>
        <message>
            <source>It's too large to draw some in passing.</source>
            <translation>它太大，无法顺便画几幅。</translation>
        </message>
        <message>
            <source>unknown</source>
            <translation>未知</translation>
        </message>
        <message>
            <source>generates text</source>
            <translation>生成文本</translation>
        </message>
        <message>
            <source>encodes text</source>
            <translation>编码文本</translation>
        </message>
        <message>
            <source>classifies</source>
            <translation>分类</translation>
        </message>
        <message>
            <source>draws images</source>
            <translation>画图像</translation>
        </message>
        <message>
            <source>yes</source>
            <translation>是</translation>
        </message>
        <message>
            <source>no</source>
            <translation>否</translation>
        </message>
        <message>
            <source>{n} layers</source>
            <translation>{n} 层</translation>
        </message>
        <message>
            <source>width {n}</source>
            <translation>宽度 {n}</translation>
        </message>
        <message>
            <source>Architecture</source>
            <translation>架构</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>用途</translation>
        </message>
        <message>
            <source>Parameters</source>
            <translation>参数量</translation>
        </message>
        <message>
            <source>Size on disk</source>
            <translation>磁盘大小</translation>
        </message>
        <message>
            <source>Stored as</source>
            <translation>存储格式</translation>
        </message>
        <message>
            <source>grey</source>
            <translation>灰度</translation>
        </message>
        <message>
            <source>in colours</source>
            <translation>彩色</translation>
        </message>
        <message>
            <source>{width} x {height}, {kind}</source>
            <translation>{width} × {height}，{kind}</translation>
        </message>
        <message>
            <source>the noise (epsilon)</source>
            <translation>噪声（epsilon）</translation>
        </message>
        <message>
            <source>the image</source>
            <translation>图像</translation>
        </message>
        <message>
            <source>between noise and image (v)</source>
            <translation>噪声与图像之间（v）</translation>
        </message>
        <message>
            <source>Images</source>
            <translation>图像</translation>
        </message>
        <message>
            <source>Classes</source>
            <translation>类别数</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <source>Scheduler</source>
            <translation>调度器</translation>
        </message>
        <message>
            <source>Predicts</source>
            <translation>预测</translation>
        </message>
        <message>
            <source>Levels of noise</source>
            <translation>噪声级数</translation>
        </message>
        <message>
            <source>Steps to draw in</source>
            <translation>绘图步数</translation>
        </message>
        <message>
            <source>as many as one likes</source>
            <translation>任意</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <source>{n} tokens</source>
            <translation>{n} 个词元</translation>
        </message>
        <message>
            <source>Shape</source>
            <translation>形状</translation>
        </message>
        <message>
            <source>Vocabulary</source>
            <translation>词表</translation>
        </message>
        <message>
            <source>Tied embedding</source>
            <translation>嵌入绑定</translation>
        </message>
        <message>
            <source>Tokenizer</source>
            <translation>分词器</translation>
        </message>
        <message>
            <source>missing</source>
            <translation>缺失</translation>
        </message>
        <message>
            <source>{heads} heads in {groups} groups</source>
            <translation>{heads} 个头，分 {groups} 组</translation>
        </message>
        <message>
            <source>{heads} heads</source>
            <translation>{heads} 个头</translation>
        </message>
        <message>
            <source>About {needed} to hold it in float32; {free} free on this machine.</source>
            <translation>以 float32 存放约需 {needed}；本机可用 {free}。</translation>
        </message>
    </context>
    <context>
        <name>Wizard</name>
        <message>
            <source>Back</source>
            <translation>上一步</translation>
        </message>
        <message>
            <source>Next</source>
            <translation>下一步</translation>
        </message>
        <message>
            <source>Start</source>
            <translation>开始</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Step {n} of {total}</source>
            <translation>第 {n} 步，共 {total} 步</translation>
        </message>
    </context>
    <context>
        <name>WorthPlot</name>
        <message>
            <source>Cost of drafting against acceptance</source>
            <translation>打草稿的代价与接受率</translation>
        </message>
        <message>
            <source>Cost c of one guess (target calls)</source>
            <translation>一次猜测的代价 c（目标调用）</translation>
        </message>
        <message>
            <source>Acceptance α</source>
            <translation>接受率 α</translation>
        </message>
        <message>
            <source>break-even</source>
            <translation>持平</translation>
        </message>
    </context>
    <context>
        <name>_Delegate</name>
        <message>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
    </context>
    <context>
        <name>_Tree</name>
        <message>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
    </context>
    <context>
        <name>acceptance</name>
        <message>
            <source>Round</source>
            <translation>轮</translation>
        </message>
        <message>
            <source>A bar for each round, as it comes.</source>
            <translation>每轮一根柱，随到随画。</translation>
        </message>
        <message>
            <source>round {n}: {drafted} guessed, {tested} tested, {kept} kept</source>
            <translation>第 {n} 轮：猜 {drafted}，检验 {tested}，保留 {kept}</translation>
        </message>
        <message>
            <source>Accepted</source>
            <translation>已接受</translation>
        </message>
        <message>
            <source>Accepted draft tokens per round</source>
            <translation>每轮接受的草稿词元</translation>
        </message>
        <message>
            <source>Nothing was drafted in this run, so there's nothing to accept.</source>
            <translation>本次运行没有打草稿，所以没有可接受的。</translation>
        </message>
        <message>
            <source>A bar for each round: how many of its guesses were kept.</source>
            <translation>每轮一根柱：它的猜测中有多少被保留。</translation>
        </message>
        <message>
            <source>Milliseconds</source>
            <translation>毫秒</translation>
        </message>
        <message>
            <source>Where each round's time went</source>
            <translation>每轮的时间花在哪里</translation>
        </message>
        <message>
            <source>round {n}: draft {draft} ms, verify {verify} ms, the rest {rest} ms</source>
            <translation>第 {n} 轮：草稿 {draft} 毫秒，验证 {verify} 毫秒，其余 {rest} 毫秒</translation>
        </message>
        <message>
            <source>draft</source>
            <translation>草稿</translation>
        </message>
        <message>
            <source>verify</source>
            <translation>验证</translation>
        </message>
        <message>
            <source>the rest</source>
            <translation>其余</translation>
        </message>
        <message>
            <source>Accepted draft tokens per round (γ = {gamma})</source>
            <translation>每轮接受的草稿词元（γ = {gamma}）</translation>
        </message>
        <message>
            <source>Seconds</source>
            <translation>秒</translation>
        </message>
        <message>
            <source>Tokens</source>
            <translation>词元</translation>
        </message>
        <message>
            <source>Race: tokens over time</source>
            <translation>赛跑：词元随时间的变化</translation>
        </message>
        <message>
            <source>Tokens over time, with the draft and without.</source>
            <translation>词元随时间的变化，有草稿与无草稿。</translation>
        </message>
        <message>
            <source>{n} s</source>
            <translation>{n} 秒</translation>
        </message>
        <message>
            <source>{lane}: {n} tokens</source>
            <translation>{lane}：{n} 个词元</translation>
        </message>
        <message>
            <source>{n} tok/s</source>
            <translation>{n} 词元/秒</translation>
        </message>
        <message>
            <source>plain</source>
            <translation>普通</translation>
        </message>
        <message>
            <source>beside it</source>
            <translation>在其旁边</translation>
        </message>
        <message>
            <source>speculative</source>
            <translation>推测式</translation>
        </message>
        <message>
            <source>rival</source>
            <translation>对手</translation>
        </message>
    </context>
    <context>
        <name>core</name>
        <message>
            <source>It doesn't generate text.</source>
            <translation>它不生成文本。</translation>
        </message>
        <message>
            <source>{path} can't be read.</source>
            <translation>无法读取 {path}。</translation>
        </message>
        <message>
            <source>Check that it's still there.</source>
            <translation>请检查它是否还在那里。</translation>
        </message>
        <message>
            <source>{path} isn't a recorded run: it holds no text.</source>
            <translation>{path} 不是运行记录：其中没有文本。</translation>
        </message>
        <message>
            <source>Choose a .jsonl file.</source>
            <translation>请选择一个 .jsonl 文件。</translation>
        </message>
        <message>
            <source>{path} isn't a recorded run: line {line} can't be read.</source>
            <translation>{path} 不是运行记录：无法读取第 {line} 行。</translation>
        </message>
        <message>
            <source>Choose a file that the decode lab or 'generate --rounds' wrote.</source>
            <translation>请选择由解码实验室或 'generate --rounds' 写出的文件。</translation>
        </message>
        <message>
            <source>{path} holds no rounds.</source>
            <translation>{path} 中没有任何轮次。</translation>
        </message>
        <message>
            <source>{path} was recorded by a later Spokeshave (format {theirs}, this one knows {ours}).</source>
            <translation>{path} 由更新版本的 Spokeshave 录制（格式 {theirs}，本版本只认识 {ours}）。</translation>
        </message>
        <message>
            <source>Update Spokeshave.</source>
            <translation>请更新 Spokeshave。</translation>
        </message>
        <message>
            <source>A variant needs a name.</source>
            <translation>变体需要一个名称。</translation>
        </message>
        <message>
            <source>Type one.</source>
            <translation>请输入名称。</translation>
        </message>
        <message>
            <source>The workspace {folder} isn't there any more.</source>
            <translation>工作区 {folder} 已不在了。</translation>
        </message>
        <message>
            <source>Bring it back, or open another workspace from the menu.</source>
            <translation>请把它放回原处，或从菜单打开另一个工作区。</translation>
        </message>
        <message>
            <source>{entry} doesn't say which bits a layer gets.</source>
            <translation>{entry} 没有说明层用多少位。</translation>
        </message>
        <message>
            <source>Write layer=bits, such as *.down_proj=8.</source>
            <translation>请写成 层=位数，例如 *.down_proj=8。</translation>
        </message>
        <message>
            <source>{width} isn't a width in {entry}.</source>
            <translation>{entry} 中的 {width} 不是有效的位宽。</translation>
        </message>
        <message>
            <source>Choose of {known}.</source>
            <translation>请从 {known} 中选择。</translation>
        </message>
        <message>
            <source>{pattern} names no linear layer of this model.</source>
            <translation>{pattern} 没有匹配这个模型的任何线性层。</translation>
        </message>
        <message>
            <source>They're called as {example}; * stands for any part of a name.</source>
            <translation>它们的名称形如 {example}；* 代表名称的任意部分。</translation>
        </message>
        <message>
            <source>{count} linear layers were given no bits, {first} among them.</source>
            <translation>有 {count} 个线性层没有指定位数，其中包括 {first}。</translation>
        </message>
        <message>
            <source>Begin with *=8 for all that aren't named.</source>
            <translation>请以 *=8 开头，用于所有未点名的层。</translation>
        </message>
        <message>
            <source>{name} has images of {have} channels, and the model draws {want}.</source>
            <translation>{name} 的图像有 {have} 个通道，而模型画 {want} 个通道。</translation>
        </message>
        <message>
            <source>Choose images that are grey or in colours, or another model.</source>
            <translation>请选择灰度或彩色图像，或换一个模型。</translation>
        </message>
        <message>
            <source>{path} doesn't exist.</source>
            <translation>{path} 不存在。</translation>
        </message>
        <message>
            <source>Choose an .npz file or a folder of pictures.</source>
            <translation>请选择一个 .npz 文件或图片文件夹。</translation>
        </message>
        <message>
            <source>{path} isn't a set of images.</source>
            <translation>{path} 不是一组图像。</translation>
        </message>
        <message>
            <source>Choose an .npz file with an array 'images', or a folder of pictures.</source>
            <translation>请选择含有数组 'images' 的 .npz 文件，或图片文件夹。</translation>
        </message>
        <message>
            <source>{name} has {count} images, too few to learn from.</source>
            <translation>{name} 只有 {count} 张图像，不足以学习。</translation>
        </message>
        <message>
            <source>Choose a set of at least 50.</source>
            <translation>请选择至少 50 张的一组。</translation>
        </message>
        <message>
            <source>{name} can't be read.</source>
            <translation>无法读取 {name}。</translation>
        </message>
        <message>
            <source>Make or download it again.</source>
            <translation>请重新制作或下载。</translation>
        </message>
        <message>
            <source>{name} has no array 'images' of bytes, (n, height, width) or (n, height, width, channels).</source>
            <translation>{name} 中没有字节类型的数组 'images'，形状应为 (n, height, width) 或 (n, height, width, channels)。</translation>
        </message>
        <message>
            <source>Save it by numpy.savez(path, images=..., labels=...).</source>
            <translation>请用 numpy.savez(path, images=..., labels=...) 保存。</translation>
        </message>
        <message>
            <source>{name} has {images} images and {labels} labels.</source>
            <translation>{name} 有 {images} 张图像和 {labels} 个标签。</translation>
        </message>
        <message>
            <source>Each image needs one label, or leave all of them out.</source>
            <translation>每张图像需要一个标签，或者全部不要。</translation>
        </message>
        <message>
            <source>{name} has pictures both in folders and beside them, so their classes aren't known.</source>
            <translation>{name} 中既有在子文件夹里的图片，也有在外面的图片，因此类别不明。</translation>
        </message>
        <message>
            <source>Put all of them into folders, one for each class, or none.</source>
            <translation>请把它们全部放进各类别的文件夹，或者全都不放。</translation>
        </message>
        <message>
            <source>{name} holds more than {most} pictures.</source>
            <translation>{name} 中的图片超过 {most} 张。</translation>
        </message>
        <message>
            <source>Choose fewer.</source>
            <translation>请选择更少的。</translation>
        </message>
        <message>
            <source>The picture {file} can't be read.</source>
            <translation>无法读取图片 {file}。</translation>
        </message>
        <message>
            <source>Remove it, or save it anew.</source>
            <translation>请移除它，或重新保存。</translation>
        </message>
        <message>
            <source>{name} holds no pictures.</source>
            <translation>{name} 中没有图片。</translation>
        </message>
        <message>
            <source>Choose a folder of PNG or JPEG files.</source>
            <translation>请选择含 PNG 或 JPEG 文件的文件夹。</translation>
        </message>
        <message>
            <source>The pictures in {name} differ in size ({sizes}).</source>
            <translation>{name} 中的图片大小不一（{sizes}）。</translation>
        </message>
        <message>
            <source>Bring them to one size first.</source>
            <translation>请先统一它们的大小。</translation>
        </message>
        <message>
            <source>The examples {name} aren't those that the recipe was made with.</source>
            <translation>样例 {name} 与制作配方时所用的不同。</translation>
        </message>
        <message>
            <source>Restore them, or remove their sha256 from the recipe to use these.</source>
            <translation>请恢复原来的样例，或从配方中删去其 sha256 以使用这些。</translation>
        </message>
        <message>
            <source>{path} is a folder, not a file of examples.</source>
            <translation>{path} 是文件夹，不是样例文件。</translation>
        </message>
        <message>
            <source>Choose a file.</source>
            <translation>请选择一个文件。</translation>
        </message>
        <message>
            <source>There is no file of examples at {path}.</source>
            <translation>{path} 处没有样例文件。</translation>
        </message>
        <message>
            <source>Check the path.</source>
            <translation>请检查路径。</translation>
        </message>
        <message>
            <source>{name} isn't a file of examples that can be read.</source>
            <translation>{name} 不是可读取的样例文件。</translation>
        </message>
        <message>
            <source>Choose a .csv, .tsv, .jsonl or .parquet file.</source>
            <translation>请选择 .csv、.tsv、.jsonl 或 .parquet 文件。</translation>
        </message>
        <message>
            <source>{name} isn't UTF-8 text (byte {position} can't be decoded).</source>
            <translation>{name} 不是 UTF-8 文本（第 {position} 个字节无法解码）。</translation>
        </message>
        <message>
            <source>Save it again as UTF-8.</source>
            <translation>请将它另存为 UTF-8。</translation>
        </message>
        <message>
            <source>{name} is empty.</source>
            <translation>{name} 是空的。</translation>
        </message>
        <message>
            <source>Choose another file.</source>
            <translation>请选择另一个文件。</translation>
        </message>
        <message>
            <source>{name} isn't valid CSV at line {line}: {reason}.</source>
            <translation>{name} 第 {line} 行不是有效的 CSV：{reason}。</translation>
        </message>
        <message>
            <source>Mend that line.</source>
            <translation>请修正该行。</translation>
        </message>
        <message>
            <source>Line {line} of {name} has {found} fields where the first line names {wanted}.</source>
            <translation>{name} 的第 {line} 行有 {found} 个字段，而首行列出了 {wanted} 个。</translation>
        </message>
        <message>
            <source>Put texts that contain a comma in double quotes.</source>
            <translation>请给含有逗号的文本加上双引号。</translation>
        </message>
        <message>
            <source>{name} has two columns of the same name.</source>
            <translation>{name} 有两列同名。</translation>
        </message>
        <message>
            <source>Rename one of them.</source>
            <translation>请重命名其中一列。</translation>
        </message>
        <message>
            <source>Line {line} of {name} isn't JSON.</source>
            <translation>{name} 的第 {line} 行不是 JSON。</translation>
        </message>
        <message>
            <source>Write one object a line, such as text and label.</source>
            <translation>请每行写一个对象，例如包含 text 和 label。</translation>
        </message>
        <message>
            <source>Row {row} of {name} isn't an object with named fields.</source>
            <translation>{name} 的第 {row} 行不是带有命名字段的对象。</translation>
        </message>
        <message>
            <source>{name} can't be read as Parquet.</source>
            <translation>无法将 {name} 作为 Parquet 读取。</translation>
        </message>
        <message>
            <source>Download or write it again.</source>
            <translation>请重新下载或写入。</translation>
        </message>
        <message>
            <source>The data set {name} couldn't be read from the Hub.</source>
            <translation>无法从 Hub 读取数据集 {name}。</translation>
        </message>
        <message>
            <source>Check its name and the connection, or download it and choose the file.</source>
            <translation>请检查名称和网络连接，或下载后选择该文件。</translation>
        </message>
        <message>
            <source>{name} has no row with both a text ({text}) and a class ({label}).</source>
            <translation>{name} 中没有同时含文本（{text}）和类别（{label}）的行。</translation>
        </message>
        <message>
            <source>Choose other columns or another file.</source>
            <translation>请选择其他列或另一个文件。</translation>
        </message>
        <message>
            <source>The column {label} of {name} doesn't hold classes, but numbers or lists.</source>
            <translation>{name} 的列 {label} 中不是类别，而是数字或列表。</translation>
        </message>
        <message>
            <source>Choose the column with one class a row.</source>
            <translation>请选择每行一个类别的那一列。</translation>
        </message>
        <message>
            <source>All examples of {name} are of one class ({only}), so there is nothing to tell apart.</source>
            <translation>{name} 的所有样例都属于同一类别（{only}），因此没有可区分的。</translation>
        </message>
        <message>
            <source>Choose another file, or another column than {column}.</source>
            <translation>请选择另一个文件，或 {column} 以外的列。</translation>
        </message>
        <message>
            <source>The column {column} of {name} has {classes} different values in {rows} rows, which aren't classes.</source>
            <translation>{name} 的列 {column} 在 {rows} 行中有 {classes} 个不同的值，它们不是类别。</translation>
        </message>
        <message>
            <source>Choose the column with the class.</source>
            <translation>请选择含有类别的列。</translation>
        </message>
        <message>
            <source>The class {few} of {name} has fewer than three examples: too few to learn from and to measure on.</source>
            <translation>{name} 中类别 {few} 的样例不足三个：太少，无法既用于学习又用于测量。</translation>
        </message>
        <message>
            <source>Add examples of it, or remove it.</source>
            <translation>请添加该类别的样例，或去掉这个类别。</translation>
        </message>
        <message>
            <source>{name} has no column {asked}.</source>
            <translation>{name} 没有列 {asked}。</translation>
        </message>
        <message>
            <source>Its columns are: {shown}.</source>
            <translation>它的列有：{shown}。</translation>
        </message>
        <message>
            <source>It can't be told which column of {name} holds the {what}.</source>
            <translation>无法判断 {name} 的哪一列是 {what}。</translation>
        </message>
        <message>
            <source>Say which. Its columns are: {shown}.</source>
            <translation>请指定。它的列有：{shown}。</translation>
        </message>
        <message>
            <source>{name} has too few different texts to learn from some and measure on others.</source>
            <translation>{name} 中不同的文本太少，无法用一部分学习、用另一部分测量。</translation>
        </message>
        <message>
            <source>Choose a larger file.</source>
            <translation>请选择更大的文件。</translation>
        </message>
        <message>
            <source>The classes of {name} ({theirs}) aren't those of the model ({mine}).</source>
            <translation>{name} 的类别（{theirs}）与模型的类别（{mine}）不同。</translation>
        </message>
        <message>
            <source>Choose the examples that it was trained on, or others with the same classes.</source>
            <translation>请选择它训练时所用的样例，或类别相同的其他样例。</translation>
        </message>
        <message>
            <source>{path} is a folder, not a text file.</source>
            <translation>{path} 是文件夹，不是文本文件。</translation>
        </message>
        <message>
            <source>The text file {path} doesn't exist.</source>
            <translation>文本文件 {path} 不存在。</translation>
        </message>
        <message>
            <source>{path} isn't UTF-8 text (byte {position} can't be decoded).</source>
            <translation>{path} 不是 UTF-8 文本（第 {position} 个字节无法解码）。</translation>
        </message>
        <message>
            <source>Choose a plain text file, or save it again as UTF-8.</source>
            <translation>请选择纯文本文件，或将它另存为 UTF-8。</translation>
        </message>
        <message>
            <source>{path} isn't text: it holds zero bytes.</source>
            <translation>{path} 不是文本：其中含有零字节。</translation>
        </message>
        <message>
            <source>Choose a plain text file.</source>
            <translation>请选择纯文本文件。</translation>
        </message>
        <message>
            <source>{path} is empty, so there is nothing to read.</source>
            <translation>{path} 是空的，没有可读的内容。</translation>
        </message>
        <message>
            <source>Choose a file with text in it.</source>
            <translation>请选择一个有文字的文件。</translation>
        </message>
        <message>
            <source>This model has no tokenizer, so text can't be turned into tokens.</source>
            <translation>这个模型没有分词器，因此无法把文本变成词元。</translation>
        </message>
        <message>
            <source>Put the tokenizer's files into the model's folder and import it again.</source>
            <translation>请把分词器的文件放进模型文件夹，然后重新导入。</translation>
        </message>
        <message>
            <source>{name} gives no tokens.</source>
            <translation>{name} 没有给出词元。</translation>
        </message>
        <message>
            <source>Choose another text.</source>
            <translation>请选择另一份文本。</translation>
        </message>
        <message>
            <source>A context of {context} leaves nothing to predict.</source>
            <translation>上下文为 {context} 时没有可预测的内容。</translation>
        </message>
        <message>
            <source>Choose at least 2.</source>
            <translation>请至少选择 2。</translation>
        </message>
        <message>
            <source>The text has {tokens} tokens, fewer than one context of {context}.</source>
            <translation>文本有 {tokens} 个词元，不足一个 {context} 的上下文。</translation>
        </message>
        <message>
            <source>Choose a longer text or a smaller context.</source>
            <translation>请选择更长的文本或更小的上下文。</translation>
        </message>
        <message>
            <source>{name} ({architecture}) doesn't keep its past as a decoder's key-value cache, so it can't be decoded here.</source>
            <translation>{name}（{architecture}）不以解码器键值缓存的方式保存过去，因此不能在这里解码。</translation>
        </message>
        <message>
            <source>Choose a decoder-only transformer.</source>
            <translation>请选择仅解码器的 transformer。</translation>
        </message>
        <message>
            <source>{name} has layers whose state can't be taken back ({layer}), so it can't draft or check drafts.</source>
            <translation>{name} 有状态无法撤回的层（{layer}），因此不能打草稿，也不能检验草稿。</translation>
        </message>
        <message>
            <source>Decode it plainly, or choose a model with attention in every layer.</source>
            <translation>请用普通解码，或选择每一层都有注意力的模型。</translation>
        </message>
        <message>
            <source>{name} can't read token {token} of its tokenizer's: it has embeddings for {rows} tokens only.</source>
            <translation>{name} 读不了其分词器的词元 {token}：它只有 {rows} 个词元的嵌入。</translation>
        </message>
        <message>
            <source>Leave that text out, or put the tokenizer that belongs to the model into its folder and import it again.</source>
            <translation>请去掉那段文本，或把属于该模型的分词器放进它的文件夹并重新导入。</translation>
        </message>
        <message>
            <source>{name} ({architecture}) can't read several continuations at once, so it can't check a tree of drafts.</source>
            <translation>{name}（{architecture}）不能同时读取多个后续，因此无法检验草稿树。</translation>
        </message>
        <message>
            <source>Choose the token or the block rule.</source>
            <translation>请选择逐词元或整块规则。</translation>
        </message>
        <message>
            <source>The chat has no turns.</source>
            <translation>对话没有任何一轮。</translation>
        </message>
        <message>
            <source>Write a message.</source>
            <translation>请写一条消息。</translation>
        </message>
        <message>
            <source>The text {text} holds half a character, which no tokenizer can read.</source>
            <translation>文本 {text} 含有半个字符，任何分词器都读不了。</translation>
        </message>
        <message>
            <source>Write it again, in UTF-8.</source>
            <translation>请以 UTF-8 重新写出。</translation>
        </message>
        <message>
            <source>{name} has no chat template, so turns can't be written as it was taught to read them.</source>
            <translation>{name} 没有对话模板，因此无法按它学过的方式写出各轮对话。</translation>
        </message>
        <message>
            <source>Write the prompt as plain text, or choose a model that was trained to chat.</source>
            <translation>请把提示词写成普通文本，或选择为对话训练过的模型。</translation>
        </message>
        <message>
            <source>The chat template of {name} refused these turns: {reason}</source>
            <translation>{name} 的对话模板拒绝了这些对话轮次：{reason}</translation>
        </message>
        <message>
            <source>Change the turns: some templates take no system turn, or want user and assistant in turns.</source>
            <translation>请更改对话轮次：有些模板不接受系统消息，或要求用户与助手轮流发言。</translation>
        </message>
        <message>
            <source>The prompt is empty, and this model has no token to begin a text with.</source>
            <translation>提示词是空的，而这个模型没有可作为文本开头的词元。</translation>
        </message>
        <message>
            <source>Write a prompt.</source>
            <translation>请写一段提示词。</translation>
        </message>
        <message>
            <source>The prompt has {tokens} tokens, and {name} reads at most {context}, so there's no room to write.</source>
            <translation>提示词有 {tokens} 个词元，而 {name} 最多读 {context} 个，没有写的余地了。</translation>
        </message>
        <message>
            <source>Shorten the prompt.</source>
            <translation>请缩短提示词。</translation>
        </message>
        <message>
            <source>Nothing drafts here, so there's nothing to check.</source>
            <translation>这里没有打草稿，因此没有可检验的。</translation>
        </message>
        <message>
            <source>Choose who drafts.</source>
            <translation>请选择由谁打草稿。</translation>
        </message>
        <message>
            <source>The prompt has {tokens} tokens, and {name} reads at most {context}, so there's no room for the {wanted} to be tested.</source>
            <translation>提示词有 {tokens} 个词元，而 {name} 最多读 {context} 个，因此容不下要检验的 {wanted} 个。</translation>
        </message>
        <message>
            <source>Computing the target's own law</source>
            <translation>正在计算目标模型自己的分布</translation>
        </message>
        <message>
            <source>Checking</source>
            <translation>正在检查</translation>
        </message>
        <message>
            <source>It was stopped before the first run.</source>
            <translation>在第一次运行之前就被停止了。</translation>
        </message>
        <message>
            <source>Let it go on for longer.</source>
            <translation>请让它运行得更久一些。</translation>
        </message>
        <message>
            <source>One outcome takes nearly all the probability after this prompt, so {runs} runs can't tell one rule from another.</source>
            <translation>在这个提示词之后，一个结果几乎占了全部概率，因此 {runs} 次运行无法区分不同规则。</translation>
        </message>
        <message>
            <source>Choose a higher temperature, more runs or another prompt.</source>
            <translation>请选择更高的温度、更多运行次数或其他提示词。</translation>
        </message>
        <message>
            <source>There's no way to draft called {name}.</source>
            <translation>没有名为 {name} 的打草稿方式。</translation>
        </message>
        <message>
            <source>Choose of: {known}.</source>
            <translation>请从中选择：{known}。</translation>
        </message>
        <message>
            <source>There's no prompt to try drafts on.</source>
            <translation>没有可用来尝试草稿的提示词。</translation>
        </message>
        <message>
            <source>Write one that's like what you'll use the model for.</source>
            <translation>请写一个与你的实际用途相近的。</translation>
        </message>
        <message>
            <source>Trying drafts</source>
            <translation>正在尝试草稿</translation>
        </message>
        <message>
            <source>Learning acceptance</source>
            <translation>正在了解接受率</translation>
        </message>
        <message>
            <source>Measuring speed</source>
            <translation>正在测量速度</translation>
        </message>
        <message>
            <source>A head of this model has an odd width, so its cache can't be packed in 4 bits.</source>
            <translation>这个模型的注意力头宽度为奇数，因此缓存无法打包为 4 位。</translation>
        </message>
        <message>
            <source>Choose 8 bits.</source>
            <translation>请选择 8 位。</translation>
        </message>
        <message>
            <source>The rival doesn't draft, so it would be plain decoding.</source>
            <translation>对手不打草稿，那就成了普通解码。</translation>
        </message>
        <message>
            <source>Choose how the rival drafts.</source>
            <translation>请选择对手如何打草稿。</translation>
        </message>
        <message>
            <source>Preparing</source>
            <translation>正在准备</translation>
        </message>
        <message>
            <source>Decoding</source>
            <translation>正在解码</translation>
        </message>
        <message>
            <source>{other} has other tokens than {target}, so they can't be decoded side by side.</source>
            <translation>{other} 的词元与 {target} 不同，因此不能并排解码。</translation>
        </message>
        <message>
            <source>Choose the variant that the export was made from, or another export of it.</source>
            <translation>请选择该导出所来自的变体，或它的另一个导出。</translation>
        </message>
        <message>
            <source>A tree of candidates needs a draft model with the target's own tokens.</source>
            <translation>候选树需要与目标模型词元相同的草稿模型。</translation>
        </message>
        <message>
            <source>Choose such a draft or the packed copy, or another rule.</source>
            <translation>请选择这样的草稿模型或打包副本，或换一条规则。</translation>
        </message>
        <message>
            <source>{name} has {layers} layers, so drafting can't leave after layer {asked}.</source>
            <translation>{name} 有 {layers} 层，因此打草稿不能在第 {asked} 层之后退出。</translation>
        </message>
        <message>
            <source>Choose fewer than {layers} layers.</source>
            <translation>请选择少于 {layers} 层。</translation>
        </message>
        <message>
            <source>{name} has no layer {layer}: they're numbered from 0 to {last}.</source>
            <translation>{name} 没有第 {layer} 层：层的编号从 0 到 {last}。</translation>
        </message>
        <message>
            <source>Change the layers to leave out.</source>
            <translation>请更改要略去的层。</translation>
        </message>
        <message>
            <source>Packing a copy of the target</source>
            <translation>正在打包目标模型的副本</translation>
        </message>
        <message>
            <source>Searching layers to leave out</source>
            <translation>正在搜索可略去的层</translation>
        </message>
        <message>
            <source>No layer of {name} can be left out without spoiling what it predicts, so it can't draft that way.</source>
            <translation>{name} 的任何一层略去后都会破坏其预测，因此不能这样打草稿。</translation>
        </message>
        <message>
            <source>Draft with the packed copy, or with another model.</source>
            <translation>请用打包副本或其他模型打草稿。</translation>
        </message>
        <message>
            <source>Measuring what forwards cost</source>
            <translation>正在测量前向计算的代价</translation>
        </message>
        <message>
            <source>Reading the prompt</source>
            <translation>正在读取提示词</translation>
        </message>
        <message>
            <source>{name} has no tokenizer, so a prompt can't be turned into tokens.</source>
            <translation>{name} 没有分词器，因此无法把提示词变成词元。</translation>
        </message>
        <message>
            <source>{name} is an ONNX export, whose keys and values are kept as its graph gives them, so they can't be rounded.</source>
            <translation>{name} 是 ONNX 导出，其键和值按计算图给出的样子保存，因此不能舍入。</translation>
        </message>
        <message>
            <source>Leave the cache unrounded, or decode with the variant itself.</source>
            <translation>请不要舍入缓存，或用变体本身解码。</translation>
        </message>
        <message>
            <source>{name} is an ONNX export, whose graph reads one continuation at a time, so it can't check a tree of drafts.</source>
            <translation>{name} 是 ONNX 导出，其计算图一次只读一个续写，因此不能验证草稿树。</translation>
        </message>
        <message>
            <source>{name} is an ONNX export, whose layers can't be run one by one, so it can't draft with some of them.</source>
            <translation>{name} 是 ONNX 导出，其各层不能逐层运行，因此不能用其中一部分打草稿。</translation>
        </message>
        <message>
            <source>Draft with a model, another export, or from the text's own repetitions.</source>
            <translation>请用一个模型、另一个导出，或文本自身的重复来打草稿。</translation>
        </message>
        <message>
            <source>{name} is an ONNX export, of which no packed copy can be made in memory.</source>
            <translation>{name} 是 ONNX 导出，不能在内存中为它制作打包副本。</translation>
        </message>
        <message>
            <source>Draft with an 8-bit export of the same model, or from the text's own repetitions.</source>
            <translation>请用同一模型的 8 位导出，或文本自身的重复来打草稿。</translation>
        </message>
        <message>
            <source>No draft model was chosen.</source>
            <translation>没有选择草稿模型。</translation>
        </message>
        <message>
            <source>Choose a draft, or draft from the text's own repetitions.</source>
            <translation>请选择草稿模型，或用文本自身的重复来打草稿。</translation>
        </message>
        <message>
            <source>{draft} has no tokenizer, so what it drafts can't be read by {target}.</source>
            <translation>{draft} 没有分词器，因此 {target} 读不懂它的草稿。</translation>
        </message>
        <message>
            <source>Choose a draft with a tokenizer, such as a variant of the same model.</source>
            <translation>请选择带分词器的草稿模型，例如同一模型的某个变体。</translation>
        </message>
        <message>
            <source>{text} can't be banned: it isn't one token but {count} ({pieces}).</source>
            <translation>无法禁止 {text}：它不是一个词元，而是 {count} 个（{pieces}）。</translation>
        </message>
        <message>
            <source>Ban one of those, or make it a stop text.</source>
            <translation>请禁止其中之一，或把它设为停止文本。</translation>
        </message>
        <message>
            <source>There is no 8-bit kernel for {device} in this build of PyTorch, so a packed copy can't draft.</source>
            <translation>此版本的 PyTorch 没有适用于 {device} 的 8 位内核，因此打包副本不能打草稿。</translation>
        </message>
        <message>
            <source>Draft with a smaller variant, or from the text's own repetitions.</source>
            <translation>请用更小的变体打草稿，或利用文本自身的重复。</translation>
        </message>
        <message>
            <source>{name} must be {wanted}.</source>
            <translation>{name} 必须{wanted}。</translation>
        </message>
        <message>
            <source>Change it and decode again.</source>
            <translation>请更改后重新解码。</translation>
        </message>
        <message>
            <source>No token is left to choose from: every one is banned.</source>
            <translation>没有词元可选：每一个都被禁止了。</translation>
        </message>
        <message>
            <source>Ban fewer tokens, or allow the text to end earlier.</source>
            <translation>请少禁止一些词元，或允许文本更早结束。</translation>
        </message>
        <message>
            <source>The {who} model computed something that isn't a number, so it has no next token.</source>
            <translation>{who} 模型算出了不是数字的结果，因此没有下一个词元。</translation>
        </message>
        <message>
            <source>Decode in float32; if that doesn't help, this variant's weights are damaged.</source>
            <translation>请用 float32 解码；如果没有帮助，则这个变体的权重已损坏。</translation>
        </message>
        <message>
            <source>{name} can draft with its own layers 0 to {last} only, and layer 0 must be among them.</source>
            <translation>{name} 只能用自己的第 0 到 {last} 层打草稿，且必须包含第 0 层。</translation>
        </message>
        <message>
            <source>Choose other layers.</source>
            <translation>请选择其他层。</translation>
        </message>
        <message>
            <source>The layers of {name} ({architecture}) differ by their place, so it can't draft with some of them.</source>
            <translation>{name}（{architecture}）的各层因位置而异，因此不能只用其中一些打草稿。</translation>
        </message>
        <message>
            <source>Choose another way to draft.</source>
            <translation>请选择其他打草稿的方式。</translation>
        </message>
        <message>
            <source>The text is too short to choose layers by.</source>
            <translation>文本太短，无法据以选择层。</translation>
        </message>
        <message>
            <source>Write a longer prompt.</source>
            <translation>请写一个更长的提示词。</translation>
        </message>
        <message>
            <source>{name} gives logits that aren't numbers.</source>
            <translation>{name} 给出的 logit 不是数。</translation>
        </message>
        <message>
            <source>Make or export it again.</source>
            <translation>请重新制作或导出。</translation>
        </message>
        <message>
            <source>There's no prompt to compare on.</source>
            <translation>没有可用来对比的提示词。</translation>
        </message>
        <message>
            <source>Writing</source>
            <translation>正在写出</translation>
        </message>
        <message>
            <source>{name} must be above 0 and at most 1.</source>
            <translation>{name} 必须大于 0 且不超过 1。</translation>
        </message>
        <message>
            <source>{name} must be 1 or more.</source>
            <translation>{name} 必须不小于 1。</translation>
        </message>
        <message>
            <source>There's no rule to judge drafts by that's called {name}.</source>
            <translation>没有名为 {name} 的草稿评判规则。</translation>
        </message>
        <message>
            <source>Choose one of {names}.</source>
            <translation>请从 {names} 中选择。</translation>
        </message>
        <message>
            <source>The disk is full, so nothing was saved.</source>
            <translation>磁盘已满，因此没有保存任何内容。</translation>
        </message>
        <message>
            <source>Free some space on the disk of {place}, or choose a folder on another disk, and try again.</source>
            <translation>请在 {place} 所在的磁盘上腾出一些空间，或选择另一磁盘上的文件夹，然后重试。</translation>
        </message>
        <message>
            <source>Free some space, or choose a workspace on another disk, and start the job again.</source>
            <translation>请腾出一些空间，或选择位于另一块磁盘上的工作区，然后重新启动任务。</translation>
        </message>
        <message>
            <source>There wasn't enough memory for this.</source>
            <translation>内存不足，无法完成。</translation>
        </message>
        <message>
            <source>Close other programs, or choose a smaller context, batch or model.</source>
            <translation>请关闭其他程序，或选择更小的上下文、批次或模型。</translation>
        </message>
        <message>
            <source>There is no permission to use {path}.</source>
            <translation>没有使用 {path} 的权限。</translation>
        </message>
        <message>
            <source>Change its permissions, or choose another place.</source>
            <translation>请修改其权限，或选择其他位置。</translation>
        </message>
        <message>
            <source>{path} can't be made: a file is where a folder should be.</source>
            <translation>无法创建 {path}：应为文件夹的位置上是一个文件。</translation>
        </message>
        <message>
            <source>Choose another place.</source>
            <translation>请选择其他位置。</translation>
        </message>
        <message>
            <source>That name is too long for this disk.</source>
            <translation>该名称对此磁盘来说太长。</translation>
        </message>
        <message>
            <source>Choose a shorter one.</source>
            <translation>请选择较短的名称。</translation>
        </message>
        <message>
            <source>Something went wrong that Spokeshave didn't foresee ({what}).</source>
            <translation>发生了 Spokeshave 没有预料到的问题（{what}）。</translation>
        </message>
        <message>
            <source>The detail says where; please report it.</source>
            <translation>详情说明了出错的位置；请报告。</translation>
        </message>
        <message>
            <source>The classifier has no tokenizer, so it can't read the examples.</source>
            <translation>分类器没有分词器，因此读不了样例。</translation>
        </message>
        <message>
            <source>Put tokenizer.json beside the model and import it again.</source>
            <translation>请把 tokenizer.json 放在模型旁边，然后重新导入。</translation>
        </message>
        <message>
            <source>The two classifiers tell different classes apart, so they can't be compared.</source>
            <translation>两个分类器区分的类别不同，因此无法比较。</translation>
        </message>
        <message>
            <source>Choose a reference that learnt the same classes.</source>
            <translation>请选择学习了相同类别的参考模型。</translation>
        </message>
        <message>
            <source>Measuring accuracy</source>
            <translation>正在测量准确率</translation>
        </message>
        <message>
            <source>The classifier's outputs aren't numbers (NaN or infinite), so there is no accuracy.</source>
            <translation>分类器的输出不是数字（NaN 或无穷），因此没有准确率。</translation>
        </message>
        <message>
            <source>Its weights are damaged or overflow in this precision: measure it in float32, or make the variant again.</source>
            <translation>它的权重已损坏，或在此精度下溢出：请用 float32 测量，或重新制作该变体。</translation>
        </message>
        <message>
            <source>The encoder has no tokenizer, so nothing can be embedded.</source>
            <translation>编码器没有分词器，因此无法嵌入任何内容。</translation>
        </message>
        <message>
            <source>The text has no sentences to embed.</source>
            <translation>文本中没有可嵌入的句子。</translation>
        </message>
        <message>
            <source>Comparing embeddings</source>
            <translation>正在比较嵌入</translation>
        </message>
        <message>
            <source>The encoder's embeddings aren't numbers (NaN or infinite).</source>
            <translation>编码器的嵌入不是数字（NaN 或无穷）。</translation>
        </message>
        <message>
            <source>The text has no sentence of at least {shortest} characters.</source>
            <translation>文本中没有至少 {shortest} 个字符的句子。</translation>
        </message>
        <message>
            <source>Choose a longer text.</source>
            <translation>请选择更长的文本。</translation>
        </message>
        <message>
            <source>Teaching the judge of images</source>
            <translation>训练图像评判者</translation>
        </message>
        <message>
            <source>Drawing</source>
            <translation>绘图</translation>
        </message>
        <message>
            <source>The text has {tokens} token(s), and a score needs at least two.</source>
            <translation>文本有 {tokens} 个词元，而评分至少需要两个。</translation>
        </message>
        <message>
            <source>Measuring perplexity</source>
            <translation>正在测量困惑度</translation>
        </message>
        <message>
            <source>The model holds {longest} tokens, fewer than a context of {context}.</source>
            <translation>模型容纳 {longest} 个词元，不足 {context} 的上下文。</translation>
        </message>
        <message>
            <source>Choose a context of at most {longest}.</source>
            <translation>请选择不超过 {longest} 的上下文。</translation>
        </message>
        <message>
            <source>The model's scores aren't numbers (NaN or infinite), so there is no perplexity.</source>
            <translation>模型的得分不是数字（NaN 或无穷），因此没有困惑度。</translation>
        </message>
        <message>
            <source>Speed needs at least one token.</source>
            <translation>速度至少需要一个词元。</translation>
        </message>
        <message>
            <source>Choose at least 1 token.</source>
            <translation>请至少选择 1 个词元。</translation>
        </message>
        <message>
            <source>The model holds {longest} tokens, fewer than {prefill} of prompt and {decode} to decode.</source>
            <translation>模型容纳 {longest} 个词元，少于提示词的 {prefill} 个加上要解码的 {decode} 个。</translation>
        </message>
        <message>
            <source>Choose fewer tokens.</source>
            <translation>请选择更少的词元。</translation>
        </message>
        <message>
            <source>There's no text to classify.</source>
            <translation>没有可分类的文本。</translation>
        </message>
        <message>
            <source>Write one a line.</source>
            <translation>请每行写一段。</translation>
        </message>
        <message>
            <source>This export doesn't classify.</source>
            <translation>这个导出不做分类。</translation>
        </message>
        <message>
            <source>Choose an exported classifier.</source>
            <translation>请选择一个导出的分类器。</translation>
        </message>
        <message>
            <source>Timing</source>
            <translation>正在计时</translation>
        </message>
        <message>
            <source>This export doesn't draw.</source>
            <translation>这个导出不绘图。</translation>
        </message>
        <message>
            <source>Choose the export of a diffusion model.</source>
            <translation>请选择扩散模型的导出。</translation>
        </message>
        <message>
            <source>Loading</source>
            <translation>正在加载</translation>
        </message>
        <message>
            <source>Asking the original</source>
            <translation>正在询问原始模型</translation>
        </message>
        <message>
            <source>Asking what was written</source>
            <translation>正在查询写出的内容</translation>
        </message>
        <message>
            <source>Reading it back</source>
            <translation>正在读回</translation>
        </message>
        <message>
            <source>Exporting {name} needs about {needed:.1f} GB of memory, and {free:.1f} GB are free.</source>
            <translation>导出 {name} 约需 {needed:.1f} GB 内存，而可用 {free:.1f} GB。</translation>
        </message>
        <message>
            <source>Close other programs, or choose a smaller model.</source>
            <translation>请关闭其他程序，或选择更小的模型。</translation>
        </message>
        <message>
            <source>{name} is of the kind {type}, which can't be exported to GGUF here.</source>
            <translation>{name} 的类型是 {type}，这里不能导出为 GGUF。</translation>
        </message>
        <message>
            <source>These can: {known}. ONNX takes more kinds.</source>
            <translation>可以的有：{known}。ONNX 支持更多类型。</translation>
        </message>
        <message>
            <source>{name} can't be exported to GGUF: llama.cpp has {what} built in otherwise ({value}).</source>
            <translation>{name} 无法导出为 GGUF：llama.cpp 内置的 {what} 与此不同（{value}）。</translation>
        </message>
        <message>
            <source>Export it to ONNX instead.</source>
            <translation>请改为导出为 ONNX。</translation>
        </message>
        <message>
            <source>{tensor} has no place in a GGUF file of the architecture {architecture}.</source>
            <translation>架构 {architecture} 的 GGUF 文件中没有 {tensor} 的位置。</translation>
        </message>
        <message>
            <source>Export the model to ONNX instead.</source>
            <translation>请改为将模型导出为 ONNX。</translation>
        </message>
        <message>
            <source>{tensor} has values too large for {dtype}.</source>
            <translation>{tensor} 的数值对 {dtype} 来说太大。</translation>
        </message>
        <message>
            <source>Choose bf16 or f32.</source>
            <translation>请选择 bf16 或 f32。</translation>
        </message>
        <message>
            <source>The file that was written isn't what was meant: {first} differs.</source>
            <translation>写出的文件与预期不符：{first} 不同。</translation>
        </message>
        <message>
            <source>Nothing was kept. Please report it.</source>
            <translation>没有保留任何内容。请报告。</translation>
        </message>
        <message>
            <source>Plain transformers can't read the file that was written: {reason}</source>
            <translation>普通 transformers 读不了写出的文件：{reason}</translation>
        </message>
        <message>
            <source>Nothing was kept. The detail has the trace; please report it.</source>
            <translation>没有保留任何内容。详情中有调用轨迹；请报告。</translation>
        </message>
        <message>
            <source>Plain transformers reads other numbers from the file than were written (largest difference {difference:.3g} of a logit).</source>
            <translation>普通 transformers 从文件读出的数值与写入的不同（logit 最大差异 {difference:.3g}）。</translation>
        </message>
        <message>
            <source>The tokenizer has more tokens than the embedding has rows, so it can't be written into a GGUF file.</source>
            <translation>分词器的词元比嵌入的行多，因此无法写入 GGUF 文件。</translation>
        </message>
        <message>
            <source>Use the tokenizer that belongs to this model.</source>
            <translation>请使用属于这个模型的分词器。</translation>
        </message>
        <message>
            <source>The tokenizer is of a kind that can't be written into a GGUF file here ({tokenizer}).</source>
            <translation>这种分词器在这里无法写入 GGUF 文件（{tokenizer}）。</translation>
        </message>
        <message>
            <source>Models with a byte-level or a SentencePiece BPE tokenizer can be exported.</source>
            <translation>可以导出使用字节级或 SentencePiece BPE 分词器的模型。</translation>
        </message>
        <message>
            <source>Tracing</source>
            <translation>正在追踪</translation>
        </message>
        <message>
            <source>Writing the graph</source>
            <translation>正在写计算图</translation>
        </message>
        <message>
            <source>Quantizing</source>
            <translation>正在量化</translation>
        </message>
        <message>
            <source>Writing tokenizer and configuration</source>
            <translation>正在写分词器和配置</translation>
        </message>
        <message>
            <source>Checking with onnxruntime</source>
            <translation>正在用 onnxruntime 检查</translation>
        </message>
        <message>
            <source>A model with an encoder and a decoder is written in float32 only.</source>
            <translation>编码器-解码器模型只能以 float32 写出。</translation>
        </message>
        <message>
            <source>Leave the precision at float32.</source>
            <translation>请把精度保持为 float32。</translation>
        </message>
        <message>
            <source>An encoder-decoder model with quantized weights can't be exported to ONNX yet.</source>
            <translation>带量化权重的编码器-解码器模型暂不能导出为 ONNX。</translation>
        </message>
        <message>
            <source>Export the model that it was made from.</source>
            <translation>请导出它所来自的模型。</translation>
        </message>
        <message>
            <source>Writing configuration</source>
            <translation>正在写配置</translation>
        </message>
        <message>
            <source>{name} ({architecture}) can't be exported: language models with a cache, encoders and classifiers can.</source>
            <translation>{name}（{architecture}）无法导出：带缓存的语言模型、编码器和分类器可以。</translation>
        </message>
        <message>
            <source>Choose another model.</source>
            <translation>请选择另一个模型。</translation>
        </message>
        <message>
            <source>{architecture} can't be written as an ONNX graph: {reason}</source>
            <translation>无法把 {architecture} 写成 ONNX 计算图：{reason}</translation>
        </message>
        <message>
            <source>The detail says where; please report this model.</source>
            <translation>详情说明了出错的位置；请报告这个模型。</translation>
        </message>
        <message>
            <source>The exported model couldn't be checked: the checking process ended with status {status}.</source>
            <translation>无法检查导出的模型：检查进程以状态 {status} 结束。</translation>
        </message>
        <message>
            <source>The detail holds what it said.</source>
            <translation>详情中有它输出的内容。</translation>
        </message>
        <message>
            <source>In this precision too much of what the original computes is lost: {check} gave {value:.4g}, and the limit is {limit:.4g}.</source>
            <translation>在此精度下，原模型的计算结果损失过多：{check} 得到 {value:.4g}，而限值为 {limit:.4g}。</translation>
        </message>
        <message>
            <source>Nothing was written. Choose float32, which is exact, or quantize the model here and export that variant.</source>
            <translation>没有写出任何东西。请选择精确的 float32，或在这里量化模型再导出那个变体。</translation>
        </message>
        <message>
            <source>The exported model doesn't compute what the original computes: {check} gave {value:.4g}, and {limit:.4g} is allowed.</source>
            <translation>导出的模型算出的与原始模型不同：{check} 得到 {value:.4g}，而允许 {limit:.4g}。</translation>
        </message>
        <message>
            <source>Nothing was written. Please report this model; the detail lists the checks before it.</source>
            <translation>没有写入任何内容。请报告这个模型；详情列出了此前的各项检查。</translation>
        </message>
        <message>
            <source>The exported graph names {there} where {wanted} was declared.</source>
            <translation>导出的计算图写的是 {there}，而声明的是 {wanted}。</translation>
        </message>
        <message>
            <source>Nothing was written. Please report this model.</source>
            <translation>没有写入任何内容。请报告这个模型。</translation>
        </message>
        <message>
            <source>Axis {axis} of {name} became fixed at {size}.</source>
            <translation>{name} 的轴 {axis} 被固定为 {size}。</translation>
        </message>
        <message>
            <source>Nothing was written: batches or texts of another length would fail. Please report this model.</source>
            <translation>没有写入任何内容：批次或其他长度的文本会失败。请报告这个模型。</translation>
        </message>
        <message>
            <source>The attention mask was optimised away; padded batches would be wrong.</source>
            <translation>注意力掩码被优化掉了；带填充的批次会出错。</translation>
        </message>
        <message>
            <source>{found} of {count} quantized layers are in the exported graph as such.</source>
            <translation>导出的计算图中保留了 {count} 个量化层中的 {found} 个。</translation>
        </message>
        <message>
            <source>{megabytes:.1f} MB of the data file isn't referenced.</source>
            <translation>数据文件中有 {megabytes:.1f} MB 未被引用。</translation>
        </message>
        <message>
            <source>{name} is quantized already, and its graph keeps its own grid beside float32.</source>
            <translation>{name} 已经量化，其计算图在 float32 之外保留自己的网格。</translation>
        </message>
        <message>
            <source>Leave the precision at float32, or export the variant that it was made from.</source>
            <translation>请把精度保持为 float32，或导出它所来自的变体。</translation>
        </message>
        <message>
            <source>This kind of int8 is for encoders and classifiers.</source>
            <translation>这种 int8 用于编码器和分类器。</translation>
        </message>
        <message>
            <source>Choose float16 or float32.</source>
            <translation>请选择 float16 或 float32。</translation>
        </message>
        <message>
            <source>This kind of int8 is for encoders and classifiers: a text generator changes too much by it.</source>
            <translation>这种 int8 用于编码器和分类器：文本生成模型会因此变化过大。</translation>
        </message>
        <message>
            <source>Quantize {name} here, by GPTQ or AWQ for instance, and export that variant: its grid is written as it is.</source>
            <translation>请在这里量化 {name}（例如用 GPTQ 或 AWQ），再导出那个变体：其网格会原样写出。</translation>
        </message>
        <message>
            <source>onnxruntime can't compute in bfloat16 on this processor: {reason}</source>
            <translation>onnxruntime 不能在这个处理器上用 bfloat16 计算：{reason}</translation>
        </message>
        <message>
            <source>Choose float16, which is as small, or float32.</source>
            <translation>请选择同样小的 float16，或 float32。</translation>
        </message>
        <message>
            <source>float16 holds numbers up to 65,504, and {layer} of this model reaches {value:,.0f}.</source>
            <translation>float16 最大只能表示 65,504，而该模型的 {layer} 达到 {value:,.0f}。</translation>
        </message>
        <message>
            <source>Choose float32, or bfloat16 where the runtime computes in it.</source>
            <translation>请选择 float32，或在运行时支持的情况下选择 bfloat16。</translation>
        </message>
        <message>
            <source>{folder} holds {count} graphs, and nothing in it says which is meant: {names}.</source>
            <translation>{folder} 中有 {count} 个计算图，而其中没有说明指的是哪一个：{names}。</translation>
        </message>
        <message>
            <source>Choose the file itself.</source>
            <translation>请直接选择文件。</translation>
        </message>
        <message>
            <source>{folder} holds no {file}, so it isn't an ONNX export.</source>
            <translation>{folder} 中没有 {file}，因此它不是 ONNX 导出结果。</translation>
        </message>
        <message>
            <source>Choose the folder that an export was written to.</source>
            <translation>请选择导出时写入的文件夹。</translation>
        </message>
        <message>
            <source>{path} is damaged and can't be read as an ONNX graph.</source>
            <translation>{path} 已损坏，无法作为 ONNX 计算图读取。</translation>
        </message>
        <message>
            <source>Export the model again.</source>
            <translation>请重新导出该模型。</translation>
        </message>
        <message>
            <source>The weights' file {file} is missing beside {graph}.</source>
            <translation>{graph} 旁边缺少权重文件 {file}。</translation>
        </message>
        <message>
            <source>Copy both files together, or export the model again.</source>
            <translation>请把两个文件一起复制，或重新导出该模型。</translation>
        </message>
        <message>
            <source>The weights' file {file} is cut short: {there} bytes of {needed} are there.</source>
            <translation>权重文件 {file} 不完整：{needed} 字节中只有 {there} 字节。</translation>
        </message>
        <message>
            <source>Copy it again, or export the model again.</source>
            <translation>请重新复制，或重新导出该模型。</translation>
        </message>
        <message>
            <source>This onnxruntime reads IR up to {highest}, the file has {version}.</source>
            <translation>这个 onnxruntime 最高读取 IR {highest}，而文件是 {version}。</translation>
        </message>
        <message>
            <source>Update onnxruntime, or export the model again with this version of Spokeshave.</source>
            <translation>请更新 onnxruntime，或用这个版本的 Spokeshave 重新导出该模型。</translation>
        </message>
        <message>
            <source>This onnxruntime is too old for the operators in {path}.</source>
            <translation>这个 onnxruntime 太旧，不支持 {path} 中的算子。</translation>
        </message>
        <message>
            <source>onnxruntime can't open {path}: {reason}</source>
            <translation>onnxruntime 无法打开 {path}：{reason}</translation>
        </message>
        <message>
            <source>This export has no key-value cache: it's an encoder or a classifier, which doesn't generate text.</source>
            <translation>这个导出结果没有键值缓存：它是编码器或分类器，不生成文本。</translation>
        </message>
        <message>
            <source>Choose an exported language model.</source>
            <translation>请选择导出的语言模型。</translation>
        </message>
        <message>
            <source>This graph takes batch {batch} only.</source>
            <translation>此图只接受批次 {batch}。</translation>
        </message>
        <message>
            <source>Give it one text at a time, or export the portable profile.</source>
            <translation>请一次给一段文本，或导出通用配置。</translation>
        </message>
        <message>
            <source>{folder} holds no tokenizer.json, so text can't be turned into tokens.</source>
            <translation>{folder} 中没有 tokenizer.json，因此无法把文本变成词元。</translation>
        </message>
        <message>
            <source>Copy the model's tokenizer.json into the folder.</source>
            <translation>请把模型的 tokenizer.json 复制到该文件夹。</translation>
        </message>
        <message>
            <source>{path} can't be read as a tokenizer.</source>
            <translation>无法将 {path} 作为分词器读取。</translation>
        </message>
        <message>
            <source>The prompt is empty.</source>
            <translation>提示词是空的。</translation>
        </message>
        <message>
            <source>Write at least one word.</source>
            <translation>请至少写一个词。</translation>
        </message>
        <message>
            <source>The prompt has {count} tokens, and this model reads {context} at most.</source>
            <translation>提示词有 {count} 个词元，而这个模型最多读 {context} 个。</translation>
        </message>
        <message>
            <source>This graph takes batch {batch} only, and decoding is of one text at a time.</source>
            <translation>该计算图只接受批大小 {batch}，而解码一次只处理一段文本。</translation>
        </message>
        <message>
            <source>Leave that text out, or export the model again with the tokenizer that belongs to it.</source>
            <translation>请去掉那段文本，或用属于该模型的分词器重新导出。</translation>
        </message>
        <message>
            <source>{architecture} doesn't say which token its answers begin with.</source>
            <translation>{architecture} 没有说明其回答以哪个词元开头。</translation>
        </message>
        <message>
            <source>Set decoder_start_token_id in config.json, and import the model again.</source>
            <translation>请在 config.json 中设置 decoder_start_token_id，然后重新导入模型。</translation>
        </message>
        <message>
            <source>{path} is there already.</source>
            <translation>{path} 已经存在。</translation>
        </message>
        <message>
            <source>Choose a new or an empty folder.</source>
            <translation>请选择新的或空的文件夹。</translation>
        </message>
        <message>
            <source>Unpacking</source>
            <translation>正在解包</translation>
        </message>
        <message>
            <source>{folder} holds no safetensors weights.</source>
            <translation>{folder} 中没有 safetensors 权重。</translation>
        </message>
        <message>
            <source>Choose a model's folder.</source>
            <translation>请选择模型的文件夹。</translation>
        </message>
        <message>
            <source>Packed, {name} would be no smaller: none of its tensors has zeros enough.</source>
            <translation>打包后 {name} 不会更小：没有一个张量含有足够多的零。</translation>
        </message>
        <message>
            <source>Prune it first; a mask pays from a sixteenth of zeros on in 16 bits.</source>
            <translation>请先剪枝；对 16 位权重，零占十六分之一以上时掩码才划算。</translation>
        </message>
        <message>
            <source>Packing</source>
            <translation>正在打包</translation>
        </message>
        <message>
            <source>{file} wasn't packed by Spokeshave.</source>
            <translation>{file} 不是由 Spokeshave 打包的。</translation>
        </message>
        <message>
            <source>Choose a file that ends in {ending}.</source>
            <translation>请选择以 {ending} 结尾的文件。</translation>
        </message>
        <message>
            <source>{path} is a file, and an export is a folder.</source>
            <translation>{path} 是文件，而导出结果是文件夹。</translation>
        </message>
        <message>
            <source>Choose another name.</source>
            <translation>请另选名称。</translation>
        </message>
        <message>
            <source>{path} isn't empty, and what is in it isn't an earlier export.</source>
            <translation>{path} 不是空的，其中的内容也不是先前的导出结果。</translation>
        </message>
        <message>
            <source>{path} holds an earlier export.</source>
            <translation>{path} 中有先前的导出结果。</translation>
        </message>
        <message>
            <source>Choose another folder, or ask for the earlier export to be replaced.</source>
            <translation>请另选文件夹，或要求替换先前的导出结果。</translation>
        </message>
        <message>
            <source>Another export to {path} is running.</source>
            <translation>另一个到 {path} 的导出正在进行。</translation>
        </message>
        <message>
            <source>Wait for it, or choose another folder.</source>
            <translation>请等它完成，或另选文件夹。</translation>
        </message>
        <message>
            <source>A model with weights in fp8 can't be exported to ONNX yet.</source>
            <translation>权重为 fp8 的模型还不能导出为 ONNX。</translation>
        </message>
        <message>
            <source>Export the variant before that step, or one with int8 weights.</source>
            <translation>请导出那一步之前的变体，或权重为 int8 的变体。</translation>
        </message>
        <message>
            <source>This model's attention has sinks, which the ONNX export doesn't write yet.</source>
            <translation>这个模型的注意力带有 sink，ONNX 导出还不能写出。</translation>
        </message>
        <message>
            <source>{architecture} has no key-value cache, so it can't be exported as a text generator.</source>
            <translation>{architecture} 没有键值缓存，因此不能作为文本生成器导出。</translation>
        </message>
        <message>
            <source>Choose a decoder-only language model.</source>
            <translation>请选择仅解码器的语言模型。</translation>
        </message>
        <message>
            <source>{architecture} keeps more than keys and values between tokens, which the ONNX export doesn't write yet.</source>
            <translation>{architecture} 在词元之间保存的不只是键和值，ONNX 导出还不能写出。</translation>
        </message>
        <message>
            <source>Choose a model whose layers are all attention layers.</source>
            <translation>请选择所有层都是注意力层的模型。</translation>
        </message>
        <message>
            <source>{architecture} names no padding token, so it can't tell where each of several texts ends.</source>
            <translation>{architecture} 没有指定填充词元，无法判断多段文本各在哪里结束。</translation>
        </message>
        <message>
            <source>Set pad_token_id in config.json, and import the model again.</source>
            <translation>请在 config.json 中设置 pad_token_id，并重新导入模型。</translation>
        </message>
        <message>
            <source>Workers end before they're ready (exit code {code}).</source>
            <translation>工作进程在就绪之前就结束了（退出码 {code}）。</translation>
        </message>
        <message>
            <source>Start Spokeshave from a terminal to see why.</source>
            <translation>请从终端启动 Spokeshave 以查看原因。</translation>
        </message>
        <message>
            <source>The worker was killed from outside, most likely because memory ran out.</source>
            <translation>工作进程被外部终止，很可能是因为内存耗尽。</translation>
        </message>
        <message>
            <source>Close other programs, or choose a smaller context, batch or model. Nothing else was lost.</source>
            <translation>请关闭其他程序，或选择更小的上下文、批次或模型。其他内容没有损失。</translation>
        </message>
        <message>
            <source>The worker crashed ({signal}).</source>
            <translation>工作进程崩溃了（{signal}）。</translation>
        </message>
        <message>
            <source>The end of its log is in the detail. Nothing else was lost; the job can be started again.</source>
            <translation>详情中有其日志的末尾。其他内容没有损失；可以重新启动该任务。</translation>
        </message>
        <message>
            <source>The worker ended without finishing (exit code {code}).</source>
            <translation>工作进程没有完成就结束了（退出码 {code}）。</translation>
        </message>
        <message>
            <source>The method {name} couldn't be loaded: {reason}.</source>
            <translation>无法加载方法 {name}：{reason}。</translation>
        </message>
        <message>
            <source>Mend or remove its file, or install what it needs.</source>
            <translation>请修复或移除它的文件，或安装它所需的内容。</translation>
        </message>
        <message>
            <source>There is no method called {name}.{suggestion}</source>
            <translation>没有名为 {name} 的方法。{suggestion}</translation>
        </message>
        <message>
            <source>The methods are: {known}.</source>
            <translation>现有的方法：{known}。</translation>
        </message>
        <message>
            <source>models that generate text</source>
            <translation>生成文本的模型</translation>
        </message>
        <message>
            <source>encoders</source>
            <translation>编码器</translation>
        </message>
        <message>
            <source>classifiers</source>
            <translation>分类器</translation>
        </message>
        <message>
            <source>diffusion models</source>
            <translation>扩散模型</translation>
        </message>
        <message>
            <source>a model whose task isn't known</source>
            <translation>用途未知的模型</translation>
        </message>
        <message>
            <source>{method} works on {tasks}; {name} isn't one of them.</source>
            <translation>{method} 适用于 {tasks}；{name} 不在其列。</translation>
        </message>
        <message>
            <source>Choose another method or another variant.</source>
            <translation>请选择另一种方法或另一个变体。</translation>
        </message>
        <message>
            <source>{name} is already quantized, and {method} would have to undo that.</source>
            <translation>{name} 已经量化，而 {method} 必须撤销量化才能进行。</translation>
        </message>
        <message>
            <source>Apply it to the variant before the quantization, and quantize last.</source>
            <translation>请把它用在量化之前的变体上，最后再量化。</translation>
        </message>
        <message>
            <source>{method} needs labelled examples to learn from.</source>
            <translation>{method} 需要可供学习的带标签样例。</translation>
        </message>
        <message>
            <source>Choose a file with a text and its class in each row.</source>
            <translation>请选择每行含一段文本及其类别的文件。</translation>
        </message>
        <message>
            <source>{method} needs images to learn from.</source>
            <translation>{method} 需要用来学习的图像。</translation>
        </message>
        <message>
            <source>{method} needs a text to learn from.</source>
            <translation>{method} 需要一份可供学习的文本。</translation>
        </message>
        <message>
            <source>Choose a text file.</source>
            <translation>请选择一个文本文件。</translation>
        </message>
        <message>
            <source>{name} has no tokenizer, so {method} can't read the text.</source>
            <translation>{name} 没有分词器，因此 {method} 无法读取文本。</translation>
        </message>
        <message>
            <source>There is no variant called {variant} here.</source>
            <translation>这里没有名为 {variant} 的变体。</translation>
        </message>
        <message>
            <source>Choose one from the list.</source>
            <translation>请从列表中选择一个。</translation>
        </message>
        <message>
            <source>Windows</source>
            <translation>窗口数</translation>
        </message>
        <message>
            <source>Windows of text that the method looks at, drawn from all over it. 16 is a quick try; beyond 128 hardly anything improves. Time grows with it.</source>
            <translation>该方法所看的文本窗口数，取自文本各处。16 为快速试验；超过 128 几乎不再改善。时间随之增长。</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <source>Tokens a window. Memory and time grow with it; shortened, visibly, to what the model holds.</source>
            <translation>每个窗口的词元数。内存和时间随之增长；会缩短到模型所能容纳的长度，并予以说明。</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>个词元</translation>
        </message>
        <message>
            <source>A text to calibrate on is needed.</source>
            <translation>需要用于校准的文本。</translation>
        </message>
        <message>
            <source>Reading the text</source>
            <translation>正在读取文本</translation>
        </message>
        <message>
            <source>{name} is shorter than one window of {context} tokens.</source>
            <translation>{name} 比一个 {context} 词元的窗口还短。</translation>
        </message>
        <message>
            <source>Asking the teacher</source>
            <translation>正在询问教师</translation>
        </message>
        <message>
            <source>Loss</source>
            <translation>损失</translation>
        </message>
        <message>
            <source>How far the student is from its teacher. Forward KL covers all that the teacher says; reverse KL keeps to what it says most; Jensen-Shannon is between them; total variation is what a draft's acceptance falls by; or the logits themselves.</source>
            <translation>学生与教师相差多远。前向 KL 覆盖教师所说的一切；反向 KL 只守住它最常说的；Jensen-Shannon 介于两者之间；全变差就是草稿接受率的损失；也可以直接比较 logits。</translation>
        </message>
        <message>
            <source>Forward KL</source>
            <translation>前向 KL</translation>
        </message>
        <message>
            <source>Reverse KL</source>
            <translation>反向 KL</translation>
        </message>
        <message>
            <source>Jensen-Shannon</source>
            <translation>Jensen-Shannon</translation>
        </message>
        <message>
            <source>Total variation</source>
            <translation>全变差</translation>
        </message>
        <message>
            <source>Squared error of the logits</source>
            <translation>logits 的平方误差</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>Softens both models' probabilities before they're compared. Higher teaches more of unlikely tokens; 1 compares as they are.</source>
            <translation>在比较之前让两个模型的概率变得平缓。温度越高，越多地教会不太可能的词元；1 则按原样比较。</translation>
        </message>
        <message>
            <source>Weight of the text</source>
            <translation>文本的权重</translation>
        </message>
        <message>
            <source>How much the text itself counts beside the teacher. 0: only the teacher. Raise it where the text is better than the teacher.</source>
            <translation>除教师之外，文本本身占多大分量。0：只看教师。文本比教师更好时可调高。</translation>
        </message>
        <message>
            <source>Likeliest tokens compared</source>
            <translation>比较的最可能词元数</translation>
        </message>
        <message>
            <source>Only so many of the teacher's tokens are told apart at each position, and all others count as one, with their exact mass. Saves memory where the vocabulary is large; 50 to 200 lose little. Empty: all.</source>
            <translation>每个位置只区分教师的这么多个词元，其余的合为一个，概率总量精确。词表大时节省内存；50 到 200 损失很小。留空：全部。</translation>
        </message>
        <message>
            <source>Weight of hidden states</source>
            <translation>隐藏状态的权重</translation>
        </message>
        <message>
            <source>How much it counts that what layers hand on is like the teacher's, layer by layer. 1 is usual; helps shallow encoders most. 0: not compared.</source>
            <translation>各层输出逐层接近教师有多重要。通常为 1；对浅编码器帮助最大。0：不比较。</translation>
        </message>
        <message>
            <source>Weight of attention relations</source>
            <translation>注意力关系的权重</translation>
        </message>
        <message>
            <source>How much it counts that the last layer relates tokens as the teacher's does, by queries, keys and values. 1 is usual. Memory grows with the square of the context. 0: not compared.</source>
            <translation>最后一层按查询、键和值联系词元的方式接近教师有多重要。通常为 1。内存随上下文长度的平方增长。0：不比较。</translation>
        </message>
        <message>
            <source>Student</source>
            <translation>学生</translation>
        </message>
        <message>
            <source>Who learns: another variant with the same tokens, or, where none is chosen, a new one. The variant that the method is applied to is the teacher.</source>
            <translation>谁来学习：词元相同的另一个变体；未选择时则新建一个。应用此方法的变体是教师。</translation>
        </message>
        <message>
            <source>A new one, designed below</source>
            <translation>新建一个，在下方设计</translation>
        </message>
        <message>
            <source>New student</source>
            <translation>新学生</translation>
        </message>
        <message>
            <source>A copy with some of the teacher's layers learns fastest; one with all layers, each narrower, keeps more and gains less speed; a fresh model may have any shape, knows nothing, and needs far more steps.</source>
            <translation>保留教师部分层的副本学得最快；保留所有层但每层变窄的副本保留得更多、提速更少；全新模型可以是任意形状，但一无所知，需要多得多的步数。</translation>
        </message>
        <message>
            <source>Shallower copy</source>
            <translation>更浅的副本</translation>
        </message>
        <message>
            <source>Narrower copy</source>
            <translation>更窄的副本</translation>
        </message>
        <message>
            <source>Fresh model</source>
            <translation>全新模型</translation>
        </message>
        <message>
            <source>Layers to keep</source>
            <translation>保留的层数</translation>
        </message>
        <message>
            <source>Layers of the shallower copy, spread evenly over the teacher's, the first and last among them; or of the fresh model. Empty: half of the teacher's. Fewer are faster and learn less.</source>
            <translation>更浅副本的层数，均匀取自教师的各层，含首层和末层；或全新模型的层数。留空：教师的一半。越少越快，学得也越少。</translation>
        </message>
        <message>
            <source>Share of the width to keep</source>
            <translation>保留的宽度比例</translation>
        </message>
        <message>
            <source>Of each layer's MLP channels and attention heads, those that matter most on the text.</source>
            <translation>每层 MLP 通道和注意力头中，在该文本上最重要的部分。</translation>
        </message>
        <message>
            <source>Width</source>
            <translation>宽度</translation>
        </message>
        <message>
            <source>Numbers that a token is in the fresh model; the MLP keeps its proportion to it. Empty: half of the teacher's.</source>
            <translation>全新模型中每个词元的数值个数；MLP 与之保持比例。留空：教师的一半。</translation>
        </message>
        <message>
            <source>Attention heads</source>
            <translation>注意力头</translation>
        </message>
        <message>
            <source>Of each layer of the fresh model; they must divide its width. Empty: heads as wide as the teacher's.</source>
            <translation>全新模型每层的头数；必须能整除宽度。留空：头的宽度与教师相同。</translation>
        </message>
        <message>
            <source>Learns on</source>
            <translation>学习材料</translation>
        </message>
        <message>
            <source>The text as it is; its windows' beginnings, continued by the teacher; or text that the teacher writes from nothing, where none is at hand that's like what the student will meet. For models that generate.</source>
            <translation>原样的文本；由教师续写各窗口的开头；或教师从零写出的文本，适用于手头没有与学生将遇到的内容相似的文本时。适用于生成模型。</translation>
        </message>
        <message>
            <source>The text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>The text, continued by the teacher</source>
            <translation>由教师续写的文本</translation>
        </message>
        <message>
            <source>Text that the teacher writes</source>
            <translation>教师写的文本</translation>
        </message>
        <message>
            <source>Tokens that the teacher writes</source>
            <translation>教师写的词元数</translation>
        </message>
        <message>
            <source>More are less often repeated, and take longer to write. No more are written than the steps read.</source>
            <translation>越多重复越少，写的时间也越长。不会超过各步读取的量。</translation>
        </message>
        <message>
            <source>Share of the student's own text</source>
            <translation>学生自己文本的比例</translation>
        </message>
        <message>
            <source>At so many of the steps, the student continues the text itself and the teacher judges what it says, so that it learns where its own mistakes lead. 0.5 is usual. Such a step takes several times as long. For models that generate.</source>
            <translation>在这一比例的步中，学生自己续写文本，由教师评判，使它学到自己的错误会导向何处。通常为 0.5。这样的一步要慢几倍。适用于生成模型。</translation>
        </message>
        <message>
            <source>Teacher's answers</source>
            <translation>教师的回答</translation>
        </message>
        <message>
            <source>Computed at each step; or once beforehand, and kept on disk until the job is done, which makes every further pass over the text faster: much where the teacher is much larger. Each pass then cuts the text at the same places, and where all tokens would be compared, only the 64 likeliest are told apart and all others count as one. Where the steps read no text twice, it gains nothing.</source>
            <translation>每一步计算；或事先计算一次并保存在磁盘上直到作业结束，这使之后每遍阅读文本都更快：教师大得多时快得多。此时每遍都在相同的位置切分文本；原本要比较所有词元时，只区分最可能的 64 个，其余合为一个。若各步不会重复读到同一文本，则没有好处。</translation>
        </message>
        <message>
            <source>Computed at each step</source>
            <translation>每一步计算</translation>
        </message>
        <message>
            <source>Kept on disk</source>
            <translation>保存在磁盘上</translation>
        </message>
        <message>
            <source>Learning rate</source>
            <translation>学习率</translation>
        </message>
        <message>
            <source>Size of the updates at their largest. Halve it where the loss jumps or rises; double it where it hardly falls.</source>
            <translation>更新幅度的最大值。损失跳动或上升时减半；几乎不下降时加倍。</translation>
        </message>
        <message>
            <source>Distil</source>
            <translation>蒸馏</translation>
        </message>
        <message>
            <source>Minutes to hours, needs a text or labels. A student that's smaller and faster for real; how good depends on the time given.</source>
            <translation>数分钟到数小时，需要文本或标签。得到真正更小、更快的学生；效果好坏取决于投入的时间。</translation>
        </message>
        <message>
            <source>{student} has other tokens than its teacher, whose probabilities it doesn't learn, so there are none to keep.</source>
            <translation>{student} 的词元与其教师不同，它不学习教师的概率，因此没有可保存的。</translation>
        </message>
        <message>
            <source>Set the teacher's answers to be computed at each step.</source>
            <translation>请把教师的回答设为每一步计算。</translation>
        </message>
        <message>
            <source>{student} has other tokens than its teacher, which can judge neither its own text nor its inside.</source>
            <translation>{student} 的词元与教师不同，教师既不能评判它自己的文本，也不能评判其内部。</translation>
        </message>
        <message>
            <source>Set the share of the student's own text, and the weights of hidden states and attention relations, to 0.</source>
            <translation>请把学生自己文本的比例，以及隐藏状态和注意力关系的权重设为 0。</translation>
        </message>
        <message>
            <source>A fresh student knows nothing yet, and low-rank additions alone can't teach it.</source>
            <translation>全新的学生还什么都不会，仅凭低秩附加量教不会它。</translation>
        </message>
        <message>
            <source>Let all its weights learn, or begin with a copy.</source>
            <translation>请让它的所有权重都学习，或从一个副本开始。</translation>
        </message>
        <message>
            <source>Hidden states and attention relations aren't kept on disk, so the teacher has to run at each step.</source>
            <translation>隐藏状态和注意力关系不保存在磁盘上，因此教师每一步都要运行。</translation>
        </message>
        <message>
            <source>Set their weights to 0, or the teacher's answers to be computed at each step.</source>
            <translation>请把它们的权重设为 0，或把教师的回答设为每一步计算。</translation>
        </message>
        <message>
            <source>{name} tells classes apart and writes no text to learn from.</source>
            <translation>{name} 是分类模型，不会写出可供学习的文本。</translation>
        </message>
        <message>
            <source>Let its student learn on the labelled examples.</source>
            <translation>请让它的学生在带标签的示例上学习。</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>For everything: the target's text, the choice of the depth, and training. More time keeps more drafted tokens.</source>
            <translation>用于一切：目标写文本、选择深度和训练。时间越多，保留的起草词元越多。</translation>
        </message>
        <message>
            <source>minutes</source>
            <translation>分钟</translation>
        </message>
        <message>
            <source>Layers</source>
            <translation>层</translation>
        </message>
        <message>
            <source>Of the draft. Empty: several are tried, and the one taken whose speed-up is predicted to be the greatest.</source>
            <translation>草稿的层数。留空：尝试几种，取预计加速最大的一种。</translation>
        </message>
        <message>
            <source>Total variation is what acceptance falls by; forward KL bounds it from above and learns faster at first.</source>
            <translation>全变差就是接受率的损失；前向 KL 是它的上界，起初学得更快。</translation>
        </message>
        <message>
            <source>Tokens it may say</source>
            <translation>它可说的词元</translation>
        </message>
        <message>
            <source>The output layer is most of a small draft's cost; with the most frequent tokens alone it's faster. The others are left to the target, so what's written stays the same. Empty: as many as are predicted to gain most.</source>
            <translation>输出层占小草稿模型代价的大部分；只保留最常见的词元会更快。其余的留给目标模型，因此写出的内容不变。留空：取预计收益最大的数目。</translation>
        </message>
        <message>
            <source>Tokens that the target writes</source>
            <translation>目标写的词元数</translation>
        </message>
        <message>
            <source>What the draft learns on, at most; fewer where they'd take more than a third of the time.</source>
            <translation>草稿学习用的最多词元数；若会超过三分之一的时间则更少。</translation>
        </message>
        <message>
            <source>Longest draft</source>
            <translation>最长起草</translation>
        </message>
        <message>
            <source>The speed-up is predicted for every number of drafted tokens up to this one.</source>
            <translation>对不超过此数的每个起草词元数预测加速。</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>步数</translation>
        </message>
        <message>
            <source>Updates of the weights. Empty: as many as fit into the time, which another run or machine may count otherwise.</source>
            <translation>权重更新次数。留空：时间内能做多少就多少，换一次运行或一台机器可能不同。</translation>
        </message>
        <message>
            <source>Tokens a window, of which the target writes three quarters. Memory and time grow with it.</source>
            <translation>每个窗口的词元数，其中四分之三由目标写出。内存和时间随之增长。</translation>
        </message>
        <message>
            <source>Make me a draft</source>
            <translation>给我做一个草稿模型</translation>
        </message>
        <message>
            <source>As long as you give it. A small model that writes ahead of this one, so that speculative decoding with the two is faster.</source>
            <translation>耗时由你定。一个先于本模型书写的小模型，使两者的推测解码更快。</translation>
        </message>
        <message>
            <source>The attention of {architecture} isn't of a kind whose relations can be compared.</source>
            <translation>{architecture} 的注意力不属于可比较关系的类型。</translation>
        </message>
        <message>
            <source>Set the weight of attention relations to 0.</source>
            <translation>请把注意力关系的权重设为 0。</translation>
        </message>
        <message>
            <source>Steps to draw in</source>
            <translation>绘图步数</translation>
        </message>
        <message>
            <source>How many steps the student draws an image in. Each halving costs some likeness; 4 is near the teacher, 1 is rough.</source>
            <translation>学生画一张图用多少步。每减半一次会损失一些相似度；4 步接近教师，1 步较粗糙。</translation>
        </message>
        <message>
            <source>Steps of the teacher</source>
            <translation>教师的步数</translation>
        </message>
        <message>
            <source>How many steps the teacher draws in. More are nearer to what it learnt; each doubling is one more round.</source>
            <translation>教师用多少步绘图。越多越接近它所学的；每翻一倍多一轮。</translation>
        </message>
        <message>
            <source>How</source>
            <translation>方式</translation>
        </message>
        <message>
            <source>Progressive halves the steps round by round. Consistency jumps to the end in one round; it's rougher from 4 steps on.</source>
            <translation>渐进式逐轮把步数减半。一致性在一轮内直达终点；4 步起较粗糙。</translation>
        </message>
        <message>
            <source>Progressive distillation</source>
            <translation>渐进式蒸馏</translation>
        </message>
        <message>
            <source>Consistency distillation</source>
            <translation>一致性蒸馏</translation>
        </message>
        <message>
            <source>Updates a round</source>
            <translation>每轮更新次数</translation>
        </message>
        <message>
            <source>Updates of the weights in each round. The last rounds are the hardest: twice as many are made below 4 steps.</source>
            <translation>每轮的权重更新次数。最后几轮最难：4 步以下次数加倍。</translation>
        </message>
        <message>
            <source>Batch</source>
            <translation>批次</translation>
        </message>
        <message>
            <source>Images an update. Halve it where memory runs out.</source>
            <translation>每次更新的图像数。内存不足时减半。</translation>
        </message>
        <message>
            <source>images</source>
            <translation>张图像</translation>
        </message>
        <message>
            <source>Size of the updates at their largest. Halve it where the loss jumps; it falls to almost nothing in each round.</source>
            <translation>更新幅度的最大值。损失跳动时减半；每轮中会降到接近零。</translation>
        </message>
        <message>
            <source>Distilling</source>
            <translation>正在蒸馏</translation>
        </message>
        <message>
            <source>Fewer steps</source>
            <translation>更少步数</translation>
        </message>
        <message>
            <source>Minutes to hours, needs images. The model draws in 1 to 16 steps nearly what it drew in 32; the file keeps its size.</source>
            <translation>几分钟到几小时，需要图像。模型用 1 到 16 步画出几乎与 32 步相同的图；文件大小不变。</translation>
        </message>
        <message>
            <source>{name} draws in {start} steps, and {to} aren't fewer.</source>
            <translation>{name} 用 {start} 步绘图，{to} 步并不更少。</translation>
        </message>
        <message>
            <source>Choose fewer steps, or begin with more of the teacher's.</source>
            <translation>请选择更少的步数，或从教师更多的步数开始。</translation>
        </message>
        <message>
            <source>The model draws {classes} classes, and {name} names {found}.</source>
            <translation>模型画 {classes} 个类别，而 {name} 有 {found} 个。</translation>
        </message>
        <message>
            <source>Choose the images that it was taught with.</source>
            <translation>请选择训练它所用的图像。</translation>
        </message>
        <message>
            <source>A student of {wanted} layers isn't shallower than its teacher of {total}.</source>
            <translation>{wanted} 层的学生并不比 {total} 层的教师浅。</translation>
        </message>
        <message>
            <source>Keep fewer than {total} layers.</source>
            <translation>请保留少于 {total} 层。</translation>
        </message>
        <message>
            <source>The shape of {name} isn't known, so no smaller one like it can be made.</source>
            <translation>{name} 的形状未知，无法做出更小的同类模型。</translation>
        </message>
        <message>
            <source>Choose a shallower copy, or another variant as the student.</source>
            <translation>请选择更浅的副本，或以另一个变体为学生。</translation>
        </message>
        <message>
            <source>A width of {width} can't be cut into {heads} heads that are all as wide, by an even number.</source>
            <translation>宽度 {width} 无法分成 {heads} 个等宽且宽度为偶数的头。</translation>
        </message>
        <message>
            <source>Choose a width that is a multiple of {multiple}.</source>
            <translation>请选择 {multiple} 的倍数作为宽度。</translation>
        </message>
        <message>
            <source>{architecture} can't be made in that shape: {why}.</source>
            <translation>无法做出该形状的 {architecture}：{why}。</translation>
        </message>
        <message>
            <source>Choose another width or other heads, or a shallower copy.</source>
            <translation>请选择其他宽度或头数，或更浅的副本。</translation>
        </message>
        <message>
            <source>{name} is quantized, and a copy of packed weights can't be trained.</source>
            <translation>{name} 已量化，打包权重的副本无法训练。</translation>
        </message>
        <message>
            <source>Distil the variant before the quantization, or choose another variant as the student.</source>
            <translation>请蒸馏量化之前的变体，或选择另一个变体作为学生。</translation>
        </message>
        <message>
            <source>{student} has other tokens than {teacher}, so it can't learn from it token by token.</source>
            <translation>{student} 的词元与 {teacher} 的不同，因此无法逐词元地向它学习。</translation>
        </message>
        <message>
            <source>Choose a student with the same tokenizer, or let it learn on text that the teacher writes.</source>
            <translation>请选择分词器相同的学生，或让它在教师写的文本上学习。</translation>
        </message>
        <message>
            <source>{student} can't learn from itself.</source>
            <translation>{student} 不能向自己学习。</translation>
        </message>
        <message>
            <source>Choose another variant as the student, or a shallower copy.</source>
            <translation>请选择另一个变体作为学生，或使用较浅的副本。</translation>
        </message>
        <message>
            <source>{student} doesn't do what its teacher does.</source>
            <translation>{student} 的任务与教师的不同。</translation>
        </message>
        <message>
            <source>Choose another.</source>
            <translation>请另选一个。</translation>
        </message>
        <message>
            <source>{student} tells other classes apart than {teacher}.</source>
            <translation>{student} 区分的类别与 {teacher} 的不同。</translation>
        </message>
        <message>
            <source>Choose a student that learnt from the same labels.</source>
            <translation>请选择从相同标签学习的学生。</translation>
        </message>
        <message>
            <source>{student} is quantized, and packed weights can't be trained.</source>
            <translation>{student} 已量化，打包的权重无法训练。</translation>
        </message>
        <message>
            <source>Choose the variant that it was quantized from.</source>
            <translation>请选择它量化之前的变体。</translation>
        </message>
        <message>
            <source>Asking the target what it would say</source>
            <translation>正在询问目标模型会说什么</translation>
        </message>
        <message>
            <source>Writing text to learn from</source>
            <translation>正在写学习用的文本</translation>
        </message>
        <message>
            <source>Reading the examples</source>
            <translation>正在读取样例</translation>
        </message>
        <message>
            <source>Training</source>
            <translation>正在训练</translation>
        </message>
        <message>
            <source>Removing one after the other</source>
            <translation>正在逐个去掉</translation>
        </message>
        <message>
            <source>The inputs of a layer don't make a Hessian that can be inverted.</source>
            <translation>某一层的输入得不到可逆的 Hessian 矩阵。</translation>
        </message>
        <message>
            <source>Raise the damping, or calibrate on another or a longer text.</source>
            <translation>请调高阻尼，或用另一份或更长的文本校准。</translation>
        </message>
        <message>
            <source>The model's outputs aren't numbers (NaN or infinite), so nothing can be judged by them.</source>
            <translation>模型的输出不是数字（NaN 或无穷），因此无法据此评判。</translation>
        </message>
        <message>
            <source>Its weights are damaged; import it again from its source.</source>
            <translation>它的权重已损坏；请从来源重新导入。</translation>
        </message>
        <message>
            <source>Judging by the gradient</source>
            <translation>正在按梯度评判</translation>
        </message>
        <message>
            <source>Leaving out one head after the other</source>
            <translation>正在逐个略去注意力头</translation>
        </message>
        <message>
            <source>Leaving out one group</source>
            <translation>正在逐组略去</translation>
        </message>
        <message>
            <source>The tokenizer has {tokens} tokens, but the smaller model only {fewer} of them, so it can't be told what the larger one says.</source>
            <translation>分词器有 {tokens} 个词元，而较小的模型只有 {fewer} 个，无法得知较大模型的说法。</translation>
        </message>
        <message>
            <source>Choose a student and a teacher that both have every token.</source>
            <translation>请选择都具备全部词元的学生和教师。</translation>
        </message>
        <message>
            <source>Share of the MLP width</source>
            <translation>MLP 宽度的份额</translation>
        </message>
        <message>
            <source>Share of the channels inside each block's MLP that goes, rounded to whole multiples. A tenth is mild; a third needs healing by finetuning.</source>
            <translation>每个块的 MLP 内部去掉的通道所占份额，舍入为倍数的整数倍。十分之一影响轻微；三分之一需要微调来恢复。</translation>
        </message>
        <message>
            <source>Importance</source>
            <translation>重要性</translation>
        </message>
        <message>
            <source>How a channel's worth is judged: by the size of what it adds to the output, or by the gradient of the loss.</source>
            <translation>通道重要性的评判方式：按它对输出贡献的大小，或按损失的梯度。</translation>
        </message>
        <message>
            <source>Activation and weights</source>
            <translation>激活值和权重</translation>
        </message>
        <message>
            <source>Gradient (Taylor)</source>
            <translation>梯度 (Taylor)</translation>
        </message>
        <message>
            <source>Adjust the weights that stay</source>
            <translation>调整保留的权重</translation>
        </message>
        <message>
            <source>Solves the weights of the remaining channels anew, so that each block's output moves least on the calibration text.</source>
            <translation>重新求解其余通道的权重，使每个块在校准文本上的输出变动最小。</translation>
        </message>
        <message>
            <source>Multiple</source>
            <translation>倍数</translation>
        </message>
        <message>
            <source>The width is rounded to a multiple of this (of a power of two, in a narrow model). 64 is fast everywhere.</source>
            <translation>宽度舍入为此数的倍数（较窄的模型中为 2 的幂的倍数）。64 在任何机器上都快。</translation>
        </message>
        <message>
            <source>channels</source>
            <translation>通道</translation>
        </message>
        <message>
            <source>The MLPs of {name} are {width} channels wide, too narrow to be cut in steps of {step}.</source>
            <translation>{name} 的 MLP 宽 {width} 个通道，太窄，无法以 {step} 为步长削减。</translation>
        </message>
        <message>
            <source>Choose a smaller multiple.</source>
            <translation>请选择更小的倍数。</translation>
        </message>
        <message>
            <source>MLP channels</source>
            <translation>MLP 通道</translation>
        </message>
        <message>
            <source>About a minute. A narrower MLP in every block: a smaller file, and faster wherever it runs.</source>
            <translation>约一分钟。每个块的 MLP 都变窄：文件更小，在任何机器上都更快。</translation>
        </message>
        <message>
            <source>Share of the heads</source>
            <translation>注意力头的份额</translation>
        </message>
        <message>
            <source>Share of the attention heads (of the key-value groups, where heads share keys and values) that goes. A tenth is mild, a third is harsh unless healed by finetuning. Where each layer loses as many, it's one at least.</source>
            <translation>去掉的注意力头所占份额（若头之间共用键和值，则按键值组计）。十分之一影响轻微，三分之一影响严重，除非用微调恢复。若各层去掉的一样多，则每层至少一个。</translation>
        </message>
        <message>
            <source>Which layers lose them</source>
            <translation>从哪些层去掉</translation>
        </message>
        <message>
            <source>Each layer as many: the file gets smaller and everything faster. Wherever they matter least: gentler, but they can only be zeroed, and the file keeps its size.</source>
            <translation>每层同样多：文件变小，一切都更快。最不重要之处：影响更轻，但只能置零，文件大小不变。</translation>
        </message>
        <message>
            <source>Each layer as many, cut</source>
            <translation>每层同样多，削去</translation>
        </message>
        <message>
            <source>Wherever they matter least, zeroed</source>
            <translation>最不重要之处，置零</translation>
        </message>
        <message>
            <source>How a head's worth is judged. The gradient tells best. Magnitude is often worse than chance; both it and chance are here to compare with.</source>
            <translation>注意力头重要性的评判方式。梯度判断得最准。幅值常常比随机还差；两者都列在这里以供比较。</translation>
        </message>
        <message>
            <source>Gradient, within each layer</source>
            <translation>梯度，逐层内比较</translation>
        </message>
        <message>
            <source>Size of the weights</source>
            <translation>权重大小</translation>
        </message>
        <message>
            <source>Chance</source>
            <translation>随机</translation>
        </message>
        <message>
            <source>Exactly these</source>
            <translation>仅限这些</translation>
        </message>
        <message>
            <source>Layer and head (or group), counted from 0, such as '0.3 1.7': exactly these go, whatever the settings above say. The head map in the window writes it.</source>
            <translation>层和头（或组），从 0 数起，例如 '0.3 1.7'：只去掉这些，不管上面如何设置。窗口中的注意力头图会填写它。</translation>
        </message>
        <message>
            <source>Solves the output weights of the remaining heads anew, so that each layer's output moves least on the calibration text. Only where each layer loses as many: elsewhere it was found not to help.</source>
            <translation>重新求解剩余各头的输出权重，使每层输出在校准文本上变化最小。仅在每层去掉同样多的头时进行：其他情况下实测没有帮助。</translation>
        </message>
        <message>
            <source>Windows of text (eight labelled examples each, for a classifier) on which the gradient is looked at. Beyond 32 the order hardly changes. Time grows with it.</source>
            <translation>用于查看梯度的文本窗口数（对分类器则每个窗口为八个带标签的样例）。超过 32 个后顺序几乎不变。耗时随之增加。</translation>
        </message>
        <message>
            <source>Each layer of {name} has {units} {unit}, and one of them must stay.</source>
            <translation>{name} 的每层有 {units} 个 {unit}，其中一个必须保留。</translation>
        </message>
        <message>
            <source>Choose a smaller share, or let layers lose different numbers.</source>
            <translation>请选择更小的份额，或允许各层去掉不同的数目。</translation>
        </message>
        <message>
            <source>Under a minute. The heads that the loss misses least are cut: a smaller file and faster attention.</source>
            <translation>不到一分钟。削去对损失影响最小的注意力头：文件更小，注意力更快。</translation>
        </message>
        <message>
            <source>{word} isn't a head: write layer and {unit} with a point between them.</source>
            <translation>{word} 不是头：请写层和 {unit}，中间用点隔开。</translation>
        </message>
        <message>
            <source>For example 0.3 1.7, counted from 0.</source>
            <translation>例如 0.3 1.7，从 0 数起。</translation>
        </message>
        <message>
            <source>There is no {word}: the model has {layers} layers of {units} {plural}, counted from 0.</source>
            <translation>没有 {word}：模型有 {layers} 层，每层 {units} 个 {plural}，从 0 数起。</translation>
        </message>
        <message>
            <source>Correct the list of heads.</source>
            <translation>请更正注意力头的列表。</translation>
        </message>
        <message>
            <source>What goes</source>
            <translation>去掉什么</translation>
        </message>
        <message>
            <source>The method that chooses each time. The first three set single weights to zero, which saves no bytes by itself; heads, channels and layers are cut out, and the file gets smaller.</source>
            <translation>每次选取时所用的方法。前三种把单个权重置零，这本身不节省字节；注意力头、通道和层则被削去，文件变小。</translation>
        </message>
        <message>
            <source>Weights, by magnitude</source>
            <translation>权重，按幅值</translation>
        </message>
        <message>
            <source>Weights, by Wanda</source>
            <translation>权重，按 Wanda</translation>
        </message>
        <message>
            <source>Weights, by SparseGPT</source>
            <translation>权重，按 SparseGPT</translation>
        </message>
        <message>
            <source>Share that goes</source>
            <translation>去掉的份额</translation>
        </message>
        <message>
            <source>Of the linear layers' weights, of the heads, of the MLP's width or of the layers, in the end.</source>
            <translation>最终去掉的份额：线性层的权重、注意力头、MLP 宽度或层。</translation>
        </message>
        <message>
            <source>Rounds</source>
            <translation>轮数</translation>
        </message>
        <message>
            <source>Cuts, each followed by training. More and smaller cuts lose less, and take as much longer.</source>
            <translation>削减的次数，每次之后都训练。次数多、每次少则损失较小，耗时也相应增加。</translation>
        </message>
        <message>
            <source>Budget</source>
            <translation>预算</translation>
        </message>
        <message>
            <source>Ends early where, after training, perplexity on text kept aside is so many per cent higher than before the first cut (a classifier: accuracy so many points lower), and keeps the last state that wasn't. Empty: goes all the way.</source>
            <translation>训练后，若预留文本上的困惑度比首次削减之前高出百分之这么多（分类器：准确率低这么多个百分点），则提前结束，并保留最后一个未超出的状态。留空：一直做完。</translation>
        </message>
        <message>
            <source>After each cut</source>
            <translation>每次削减之后</translation>
        </message>
        <message>
            <source>Go on with the trained weights; or take those that stay back to what they were before the first cut, which trains longer and sometimes ends better.</source>
            <translation>从训练后的权重继续；或把保留的权重退回到首次削减之前的值，这样训练更久，有时结果更好。</translation>
        </message>
        <message>
            <source>Go on from the trained weights</source>
            <translation>从训练后的权重继续</translation>
        </message>
        <message>
            <source>Rewind the weights</source>
            <translation>退回权重</translation>
        </message>
        <message>
            <source>Learn from</source>
            <translation>学习来源</translation>
        </message>
        <message>
            <source>The text (a classifier: the labels) alone, or also what the model predicted before the first cut, which loses less and takes a third longer.</source>
            <translation>只用文本（分类器：标签），或同时用首次削减之前模型的预测；后者损失更小，耗时多三分之一。</translation>
        </message>
        <message>
            <source>The text or labels</source>
            <translation>文本或标签</translation>
        </message>
        <message>
            <source>The uncut model too</source>
            <translation>也用未削减的模型</translation>
        </message>
        <message>
            <source>Steps before the first cut</source>
            <translation>首次削减前的步数</translation>
        </message>
        <message>
            <source>Trains first, where the model doesn't know this kind of text yet. Rewinding goes back to the end of these.</source>
            <translation>若模型还不熟悉这类文本，先行训练。退回时回到这些步结束之处。</translation>
        </message>
        <message>
            <source>Calibration windows</source>
            <translation>校准窗口数</translation>
        </message>
        <message>
            <source>Windows of text that the choice is made on each time.</source>
            <translation>每次选取所依据的文本窗口数。</translation>
        </message>
        <message>
            <source>Steps after each cut</source>
            <translation>每次削减后的步数</translation>
        </message>
        <message>
            <source>Updates of the weights. More is better until the loss on what's kept aside stops falling.</source>
            <translation>权重更新的次数。越多越好，直到预留部分上的损失不再下降。</translation>
        </message>
        <message>
            <source>Size of the updates at their largest, in every round. Halve it where perplexity rises; raise it for small models.</source>
            <translation>每一轮中更新幅度的最大值。困惑度上升时减半；小模型可调高。</translation>
        </message>
        <message>
            <source>Cut and train in turns</source>
            <translation>交替削减与训练</translation>
        </message>
        <message>
            <source>Minutes to hours, needs a text or labels. Loses least at deep cuts: a little goes, training heals it, a little more goes.</source>
            <translation>数分钟到数小时，需要文本或标签。大幅削减时损失最小：去掉一点，训练恢复，再去掉一点。</translation>
        </message>
        <message>
            <source>{share} % of the {parts} {what} of {name} can't be cut.</source>
            <translation>无法削去 {name} 的 {parts} 个 {what} 中的 {share} %。</translation>
        </message>
        <message>
            <source>At least one must go, and one must stay: choose another share.</source>
            <translation>至少要去掉一个，也要保留一个：请选择其他份额。</translation>
        </message>
        <message>
            <source>Cutting</source>
            <translation>正在削减</translation>
        </message>
        <message>
            <source>Sparsity of layers</source>
            <translation>各层的稀疏度</translation>
        </message>
        <message>
            <source>Alike: every block loses the same share. By outliers: blocks with more weights that stand out keep more; the mean stays. Try it above 50 %.</source>
            <translation>相同：每个块去掉同样的份额。按离群值：突出的权重较多的块保留更多；均值不变。可在 50 % 以上尝试。</translation>
        </message>
        <message>
            <source>Alike</source>
            <translation>相同</translation>
        </message>
        <message>
            <source>By outliers (OWL)</source>
            <translation>按离群值 (OWL)</translation>
        </message>
        <message>
            <source>Outlier from</source>
            <translation>离群值阈值</translation>
        </message>
        <message>
            <source>How far above its block's mean a weight's score is to count as an outlier. 5 to 7 in the paper.</source>
            <translation>权重的得分高出所在块均值多少才算离群值。论文中为 5 到 7。</translation>
        </message>
        <message>
            <source>times the mean</source>
            <translation>倍均值</translation>
        </message>
        <message>
            <source>Band</source>
            <translation>偏差范围</translation>
        </message>
        <message>
            <source>How far a block's sparsity may be from the mean. Wider helps at high sparsities; beyond 0.1 mostly harms.</source>
            <translation>一个块的稀疏度可偏离均值多少。高稀疏度下放宽有益；超过 0.1 大多有害。</translation>
        </message>
        <message>
            <source>Layers to drop</source>
            <translation>要去掉的层数</translation>
        </message>
        <message>
            <source>How many of the transformer's blocks go. Each one costs more than the one before; a tenth is mild, more needs healing by finetuning.</source>
            <translation>去掉多少个 transformer 块。每个的代价都比前一个大；十分之一影响轻微，更多则需要微调来恢复。</translation>
        </message>
        <message>
            <source>Block influence: how far a block turns what it gets, seen in one run. Measured loss: every block is tried: surer, and takes as many runs as there are blocks.</source>
            <translation>块影响度：块把输入偏转多少，运行一次即可看出。实测损失：逐个块尝试：更可靠，有多少块就要运行多少次。</translation>
        </message>
        <message>
            <source>Block influence</source>
            <translation>块影响度</translation>
        </message>
        <message>
            <source>Measured loss</source>
            <translation>实测损失</translation>
        </message>
        <message>
            <source>Numbers of blocks, counted from 0, such as '12 17': exactly these go.</source>
            <translation>块的编号，从 0 数起，例如 '12 17'：只去掉这些。</translation>
        </message>
        <message>
            <source>Windows of text (eight labelled examples each, for a classifier) that blocks are judged on. Time grows with it.</source>
            <translation>用于评判各块的文本窗口数（对分类器则每个窗口为八个带标签的样例）。耗时随之增加。</translation>
        </message>
        <message>
            <source>Under a minute. Whole blocks go: smaller, and faster by as much, on every machine.</source>
            <translation>不到一分钟。整块去掉：更小，在任何机器上都按同样比例更快。</translation>
        </message>
        <message>
            <source>Dropping layers</source>
            <translation>正在去掉层</translation>
        </message>
        <message>
            <source>{word} isn't the number of a layer.</source>
            <translation>{word} 不是层的编号。</translation>
        </message>
        <message>
            <source>Write numbers counted from 0, as in 12 17.</source>
            <translation>请写从 0 数起的编号，如 12 17。</translation>
        </message>
        <message>
            <source>The model has {total} layers, counted from 0, and one of them must stay.</source>
            <translation>模型有 {total} 层，从 0 数起，其中一层必须保留。</translation>
        </message>
        <message>
            <source>Drop fewer, or others.</source>
            <translation>请少去掉一些，或去掉其他层。</translation>
        </message>
        <message>
            <source>Compare within</source>
            <translation>比较范围</translation>
        </message>
        <message>
            <source>Where weights compete to stay. Row: every output keeps the same share, the safest. Layer: rows may differ. Whole model: layers with small weights lose the most.</source>
            <translation>权重在哪里竞争去留。行：每个输出保留相同的份额，最稳妥。层：各行可以不同。整个模型：权重小的层失去最多。</translation>
        </message>
        <message>
            <source>Each output row</source>
            <translation>每个输出行</translation>
        </message>
        <message>
            <source>Each layer</source>
            <translation>每一层</translation>
        </message>
        <message>
            <source>The whole model</source>
            <translation>整个模型</translation>
        </message>
        <message>
            <source>Sparsities by outliers go by the blocks of a transformer, and {name} has none.</source>
            <translation>按离群值分配稀疏度依据 Transformer 的各块，而 {name} 没有。</translation>
        </message>
        <message>
            <source>Let all layers lose the same share, or compare within the whole model.</source>
            <translation>请让所有层去掉相同的比例，或在整个模型内比较。</translation>
        </message>
        <message>
            <source>Comparing weights</source>
            <translation>正在比较权重</translation>
        </message>
        <message>
            <source>Pruning</source>
            <translation>正在剪枝</translation>
        </message>
        <message>
            <source>Magnitude pruning</source>
            <translation>幅值剪枝</translation>
        </message>
        <message>
            <source>Seconds, needs no data. Zeros only: no smaller on disk. Mild up to 30 %, harsh at 50 % unless finetuned.</source>
            <translation>数秒，不需要数据。只产生零：磁盘上不变小。30 % 以内影响轻微，50 % 影响严重，除非再微调。</translation>
        </message>
        <message>
            <source>Pattern</source>
            <translation>模式</translation>
        </message>
        <message>
            <source>Free: any weight may go, best for accuracy. 2:4 and 4:8: exactly half of every 4 (8) neighbours in a row go; some GPUs multiply 2:4 faster. Choose it only for such a GPU.</source>
            <translation>自由：任何权重都可去掉，准确率最好。2:4 和 4:8：一行中每 4 个（8 个）相邻权重恰好去掉一半；有些 GPU 计算 2:4 更快。只在有这种 GPU 时选择。</translation>
        </message>
        <message>
            <source>Free</source>
            <translation>自由</translation>
        </message>
        <message>
            <source>2 of every 4</source>
            <translation>每 4 个中 2 个</translation>
        </message>
        <message>
            <source>4 of every 8</source>
            <translation>每 8 个中 4 个</translation>
        </message>
        <message>
            <source>Sparsity</source>
            <translation>稀疏度</translation>
        </message>
        <message>
            <source>Share of the weights of the linear layers that become zero. Accuracy falls slowly up to about 0.3, and fast after 0.5.</source>
            <translation>线性层中变为零的权重所占份额。约 0.3 以内准确率下降缓慢，0.5 以上下降很快。</translation>
        </message>
        <message>
            <source>{name} has no linear layers to prune.</source>
            <translation>{name} 没有可剪枝的线性层。</translation>
        </message>
        <message>
            <source>The pattern {pattern} needs widths that {group} divides, and {name} has none.</source>
            <translation>模式 {pattern} 要求宽度能被 {group} 整除，而 {name} 中没有这样的层。</translation>
        </message>
        <message>
            <source>Choose the free pattern.</source>
            <translation>请选择自由模式。</translation>
        </message>
        <message>
            <source>The weights of {layer} aren't all numbers (NaN or infinite), so they can't be compared.</source>
            <translation>{layer} 的权重不全是数字（有 NaN 或无穷），因此无法比较。</translation>
        </message>
        <message>
            <source>The model is damaged; import it again from its source.</source>
            <translation>模型已损坏；请从来源重新导入。</translation>
        </message>
        <message>
            <source>Share of the parameters to remove</source>
            <translation>要去掉的参数份额</translation>
        </message>
        <message>
            <source>A tenth is mild, a quarter needs healing by distillation, half needs a long one.</source>
            <translation>十分之一影响轻微，四分之一需要蒸馏来恢复，一半则需要长时间的蒸馏。</translation>
        </message>
        <message>
            <source>Or parameters wanted</source>
            <translation>或所要的参数量</translation>
        </message>
        <message>
            <source>Make it so many parameters at most, the embedding counted. Empty: by the share above.</source>
            <translation>使参数量不超过此数，含嵌入。留空：按上面的份额。</translation>
        </message>
        <message>
            <source>million</source>
            <translation>百万</translation>
        </message>
        <message>
            <source>What may be cut</source>
            <translation>可削减什么</translation>
        </message>
        <message>
            <source>Everything, whichever costs the least; or only layers, only the MLP's width, only attention heads.</source>
            <translation>一切，哪个代价最小就削哪个；或只削层、只削 MLP 宽度、只削注意力头。</translation>
        </message>
        <message>
            <source>Layers, width and heads</source>
            <translation>层、宽度和头</translation>
        </message>
        <message>
            <source>MLP width</source>
            <translation>MLP 宽度</translation>
        </message>
        <message>
            <source>Solves the weights of the remaining heads and MLP channels anew, so that each layer's output moves least on the text.</source>
            <translation>重新求解剩余的头与 MLP 通道的权重，使每层输出在文本上变化最小。</translation>
        </message>
        <message>
            <source>Windows of text (eight labelled examples each, for a classifier) that every cut is tried on. Time grows with it.</source>
            <translation>每次削减试验所用的文本窗口数（对分类器则每个窗口为八个带标签的样例）。耗时随之增加。</translation>
        </message>
        <message>
            <source>{name} can't have fewer than {least} million parameters by such cuts: what else it has is its embedding, mostly.</source>
            <translation>通过这样的削减，{name} 的参数不可能少于 {least} 百万：其余的大多是嵌入。</translation>
        </message>
        <message>
            <source>Choose a larger size, or cut the vocabulary too.</source>
            <translation>请选择更大的大小，或同时削减词表。</translation>
        </message>
        <message>
            <source>To a size</source>
            <translation>减到指定大小</translation>
        </message>
        <message>
            <source>Minutes. Say how many parameters: the cuts are divided among layers, width and heads by what each costs, measured.</source>
            <translation>数分钟。指定参数量：按实测的代价，把削减分配到层、宽度和注意力头。</translation>
        </message>
        <message>
            <source>Layer: blocks of columns lose as many weights as the whole layer's comparison says. Block of columns: all lose the same share, as in the paper; mostly less accurate.</source>
            <translation>层：各列块按整层比较的结果去掉相应数目的权重。列块：都去掉同样的份额，与论文一致；大多不如前者准确。</translation>
        </message>
        <message>
            <source>Each block of columns</source>
            <translation>每个列块</translation>
        </message>
        <message>
            <source>Fitting steps</source>
            <translation>拟合步数</translation>
        </message>
        <message>
            <source>Steps of conjugate gradients that fit the weights that stay to the layer's outputs, once it's known which go. 0: as in the paper.</source>
            <translation>确定去掉哪些权重之后，用共轭梯度使保留的权重拟合该层输出的步数。0：与论文相同。</translation>
        </message>
        <message>
            <source>Damping</source>
            <translation>阻尼</translation>
        </message>
        <message>
            <source>Share of the mean diagonal added to the Hessian. Raise it to 0.1 where a layer's error is larger than with wanda.</source>
            <translation>加到海森矩阵上的平均对角元的比例。若某层误差大于 wanda，请升到 0.1。</translation>
        </message>
        <message>
            <source>SparseGPT</source>
            <translation>SparseGPT</translation>
        </message>
        <message>
            <source>Minutes, needs a text. The most accurate zeros without training: the weights that stay make up for those that go.</source>
            <translation>数分钟，需要文本。不经训练而得到的最准确的零：由保留的权重弥补去掉的权重。</translation>
        </message>
        <message>
            <source>Seen at least</source>
            <translation>至少出现</translation>
        </message>
        <message>
            <source>Tokens that the text has fewer times than this go. 1 keeps the text's own tokens all; more makes the file smaller, and rare words become several tokens.</source>
            <translation>在文本中出现次数少于此数的词元会去掉。1 保留文本自身的所有词元；更大则文件更小，罕见的词会变成多个词元。</translation>
        </message>
        <message>
            <source>times</source>
            <translation>次</translation>
        </message>
        <message>
            <source>Vocabulary</source>
            <translation>词表</translation>
        </message>
        <message>
            <source>Seconds. Drops the words that your text never uses. In a small model the embedding is a large part of the file.</source>
            <translation>数秒。去掉你的文本从不用到的词。在小模型中，嵌入占文件的很大一部分。</translation>
        </message>
        <message>
            <source>The tokenizer of {name} isn't of a kind that can be rebuilt.</source>
            <translation>{name} 的分词器不属于可重建的种类。</translation>
        </message>
        <message>
            <source>Only tokenizers with a tokenizer.json can.</source>
            <translation>只有带 tokenizer.json 的分词器可以。</translation>
        </message>
        <message>
            <source>Checking the tokenizer</source>
            <translation>正在检查分词器</translation>
        </message>
        <message>
            <source>The smaller tokenizer reads {text} in another way than the original does, so it can't be used.</source>
            <translation>缩小后的分词器读取 {text} 的方式与原来的不同，因此不能使用。</translation>
        </message>
        <message>
            <source>Please report it with the model's name.</source>
            <translation>请连同模型名称一起报告。</translation>
        </message>
        <message>
            <source>Where weights compete to stay. Row: every output keeps the same share, as in the paper. Layer: rows may differ.</source>
            <translation>权重在多大范围内竞争保留。行：每个输出保留同样的份额，与论文一致。层：各行可以不同。</translation>
        </message>
        <message>
            <source>Wanda</source>
            <translation>Wanda</translation>
        </message>
        <message>
            <source>A minute, needs a text. Far better than by magnitude: what matters is a weight's share of the output. No smaller on disk.</source>
            <translation>约一分钟，需要文本。远好于按幅值：要紧的是权重对输出的贡献。磁盘上不变小。</translation>
        </message>
        <message>
            <source>Grid points</source>
            <translation>搜索点数</translation>
        </message>
        <message>
            <source>Powers between 0 (no scaling) and 1 that are tried for each set of layers. Time grows with it.</source>
            <translation>对每组层尝试的、介于 0（不缩放）与 1 之间的幂次个数。耗时随之增加。</translation>
        </message>
        <message>
            <source>Clip outliers</source>
            <translation>截断离群值</translation>
        </message>
        <message>
            <source>Search for each scale the range with the least squared error, columns weighed by their inputs, instead of reaching to the largest weight.</source>
            <translation>为每个缩放系数寻找平方误差最小的范围（各列按其输入加权），而不是覆盖到最大的权重。</translation>
        </message>
        <message>
            <source>AWQ</source>
            <translation>AWQ</translation>
        </message>
        <message>
            <source>Minutes, needs a text. Protects the weights that large inputs meet; better than rounding, mostly a little behind GPTQ.</source>
            <translation>数分钟，需要文本。保护遇到大输入的权重；比直接舍入好，大多略逊于 GPTQ。</translation>
        </message>
        <message>
            <source>To</source>
            <translation>目标类型</translation>
        </message>
        <message>
            <source>bfloat16 keeps the range and loses precision; float16 the other way round. fp8 is a quarter of float32. Upwards nothing is lost and nothing won.</source>
            <translation>bfloat16 保留范围而损失精度；float16 正好相反。fp8 是 float32 的四分之一。向上转换既无损失也无收益。</translation>
        </message>
        <message>
            <source>fp8 (e4m3)</source>
            <translation>fp8 (e4m3)</translation>
        </message>
        <message>
            <source>Numbers out of range</source>
            <translation>超出范围的数值</translation>
        </message>
        <message>
            <source>Weights that are larger than the type's largest number: refuse, or set them to that largest number and say how many.</source>
            <translation>权重大于该类型的最大数值时：拒绝，或设为该最大数值并说明有多少个。</translation>
        </message>
        <message>
            <source>Refuse</source>
            <translation>拒绝</translation>
        </message>
        <message>
            <source>Clip</source>
            <translation>截断</translation>
        </message>
        <message>
            <source>Scales</source>
            <translation>缩放系数</translation>
        </message>
        <message>
            <source>What weights are multiplied by before they're cast, so that they use the whole range. None is the plain cast: above 448 nothing fits, and below 0.016 precision falls until, at 0.001, nothing is left.</source>
            <translation>转换前权重所乘的系数，使其用满整个范围。“无”即直接转换：大于 448 的放不下，小于 0.016 时精度下降，到 0.001 便什么也不剩。</translation>
        </message>
        <message>
            <source>One an output row</source>
            <translation>每个输出行一个</translation>
        </message>
        <message>
            <source>One a layer</source>
            <translation>每层一个</translation>
        </message>
        <message>
            <source>None</source>
            <translation>无</translation>
        </message>
        <message>
            <source>diffusers loads no weights in fp8, so {name} can't be cast to it.</source>
            <translation>diffusers 不加载 fp8 权重，因此 {name} 不能转换成它。</translation>
        </message>
        <message>
            <source>Choose float16 or bfloat16, which halve the file.</source>
            <translation>请选择 float16 或 bfloat16，文件会减半。</translation>
        </message>
        <message>
            <source>Cast</source>
            <translation>类型转换</translation>
        </message>
        <message>
            <source>Seconds, needs no data. The precision ladder from float64 to fp8, with ranges checked and every loss counted.</source>
            <translation>数秒，不需要数据。从 float64 到 fp8 的精度阶梯，检查范围并统计每一处损失。</translation>
        </message>
        <message>
            <source>Casting</source>
            <translation>正在转换类型</translation>
        </message>
        <message>
            <source>{tensor} holds numbers up to {largest:.4g}, and {type} ends at {most:.5g}.</source>
            <translation>{tensor} 的数值最大为 {largest:.4g}，而 {type} 的上限是 {most:.5g}。</translation>
        </message>
        <message>
            <source>Choose a type with a larger range, such as bfloat16, or let them be clipped.</source>
            <translation>请选择范围更大的类型，例如 bfloat16，或允许截断。</translation>
        </message>
        <message>
            <source>Inputs</source>
            <translation>输入</translation>
        </message>
        <message>
            <source>Rounded to fp8 token by token, so that GPUs multiply in fp8; or left as they are, which only makes the file smaller.</source>
            <translation>逐词元舍入为 fp8，使 GPU 以 fp8 相乘；或保持原样，那样只是文件变小。</translation>
        </message>
        <message>
            <source>fp8, token by token</source>
            <translation>fp8，逐词元</translation>
        </message>
        <message>
            <source>As they are</source>
            <translation>保持原样</translation>
        </message>
        <message>
            <source>fp8</source>
            <translation>fp8</translation>
        </message>
        <message>
            <source>Seconds, needs no data. Nearly lossless; fast on GPUs that multiply in fp8, simulated and so labelled elsewhere.</source>
            <translation>数秒，不需要数据。几乎无损；在能以 fp8 相乘的 GPU 上很快，在别处为模拟并如此标注。</translation>
        </message>
        <message>
            <source>Important columns first</source>
            <translation>重要的列优先</translation>
        </message>
        <message>
            <source>Round the columns with the largest inputs first, while the most other columns are left to take up their error. Turn it off only to compare.</source>
            <translation>先舍入输入最大的列，此时剩下最多的其他列来承担其误差。仅为比较才关闭。</translation>
        </message>
        <message>
            <source>Share of the mean diagonal added to the Hessian. Raise it to 0.1 where a layer's error is larger than with rtn.</source>
            <translation>加到海森矩阵上的平均对角元的比例。若某层误差大于 rtn，请升到 0.1。</translation>
        </message>
        <message>
            <source>Layer after layer within a block</source>
            <translation>块内逐层进行</translation>
        </message>
        <message>
            <source>Look again at a block's later layers after its earlier ones were rounded, instead of at all of them before. Takes a quarter longer, and holds less in memory; on SmolLM2 no more accurate.</source>
            <translation>在一个块的前面几层舍入之后再重新观察其后面的层，而不是事先一起观察全部层。耗时多四分之一，占用内存更少；在 SmolLM2 上并不更准确。</translation>
        </message>
        <message>
            <source>GPTQ</source>
            <translation>GPTQ</translation>
        </message>
        <message>
            <source>Minutes, needs a text. The most accurate 4 bits without training: errors are made up for by the weights not yet rounded.</source>
            <translation>需几分钟和一段文本。不经训练时最准确的 4 位：误差由尚未舍入的权重弥补。</translation>
        </message>
        <message>
            <source>Grid</source>
            <translation>网格</translation>
        </message>
        <message>
            <source>Automatic</source>
            <translation>自动</translation>
        </message>
        <message>
            <source>Symmetric</source>
            <translation>对称</translation>
        </message>
        <message>
            <source>With an offset</source>
            <translation>带偏移</translation>
        </message>
        <message>
            <source>Bits</source>
            <translation>位数</translation>
        </message>
        <message>
            <source>Bits a weight. 8 is nearly free. 4 halves the file again and costs accuracy: use groups. Below 4 most models break.</source>
            <translation>每个权重的位数。8 位几乎没有损失。4 位使文件再减半，但损失准确率：请使用分组。低于 4 位时大多数模型会失效。</translation>
        </message>
        <message>
            <source>8 bits</source>
            <translation>8 位</translation>
        </message>
        <message>
            <source>6 bits</source>
            <translation>6 位</translation>
        </message>
        <message>
            <source>5 bits</source>
            <translation>5 位</translation>
        </message>
        <message>
            <source>4 bits</source>
            <translation>4 位</translation>
        </message>
        <message>
            <source>3 bits</source>
            <translation>3 位</translation>
        </message>
        <message>
            <source>2 bits</source>
            <translation>2 位</translation>
        </message>
        <message>
            <source>One scale for each</source>
            <translation>共用缩放系数的范围</translation>
        </message>
        <message>
            <source>Weights that share a scale. Automatic: an output row at 8 bits, a group of columns below. Groups cost a few per cent of size and save accuracy at low bits.</source>
            <translation>共用一个缩放系数的权重。自动：8 位时为一个输出行，更低时为一组列。分组使大小增加百分之几，在低位数时保住准确率。</translation>
        </message>
        <message>
            <source>Output row</source>
            <translation>输出行</translation>
        </message>
        <message>
            <source>Group of columns</source>
            <translation>列的分组</translation>
        </message>
        <message>
            <source>Group size</source>
            <translation>分组大小</translation>
        </message>
        <message>
            <source>Columns that share a scale. Smaller is more accurate and larger on disk. Where it doesn't divide the model's widths, the next smaller size that does is taken, and said.</source>
            <translation>共用一个缩放系数的列数。越小越准确，磁盘上越大。若它不能整除模型的宽度，则取能整除的下一个较小值，并加以说明。</translation>
        </message>
        <message>
            <source>columns</source>
            <translation>列</translation>
        </message>
        <message>
            <source>Embedding and head</source>
            <translation>嵌入和输出头</translation>
        </message>
        <message>
            <source>Half of a small model's file is its embedding. 8 bits are nearly free; a head that is tied to it reads the same codes. 4 bits cost accuracy, and a tied embedding can only be stored so beside 4-bit weights with an offset.</source>
            <translation>小模型的文件有一半是嵌入。8 位几乎没有损失；与它绑定的输出头读取同样的编码。4 位损失准确率，且绑定的嵌入只有在权重为带偏移的 4 位时才能这样存储。</translation>
        </message>
        <message>
            <source>{name} has no linear layers that can be saved packed{why}.</source>
            <translation>{name} 没有可以打包保存的线性层{why}。</translation>
        </message>
        <message>
            <source>Choose another model, or prune it.</source>
            <translation>请选择另一个模型，或改为剪枝。</translation>
        </message>
        <message>
            <source>The weights of {layer} aren't all numbers (NaN or infinite), so they can't be rounded.</source>
            <translation>{layer} 的权重不全是数字（有 NaN 或无穷），因此无法舍入。</translation>
        </message>
        <message>
            <source>{name} draws images, and its embeddings of time and class stay as they are.</source>
            <translation>{name} 绘制图像，其时间和类别嵌入保持原样。</translation>
        </message>
        <message>
            <source>Leave embedding and head as they are.</source>
            <translation>请让嵌入和输出头保持原样。</translation>
        </message>
        <message>
            <source>The embedding can't be stored like that: {problem}.</source>
            <translation>嵌入不能这样存储：{problem}。</translation>
        </message>
        <message>
            <source>Choose automatic for the grid, other bits for the embedding, or leave it as it is.</source>
            <translation>请将网格设为自动，为嵌入选择其他位数，或让它保持原样。</translation>
        </message>
        <message>
            <source>Quantizing the embedding</source>
            <translation>正在量化嵌入</translation>
        </message>
        <message>
            <source>Quantizing the head</source>
            <translation>正在量化输出头</translation>
        </message>
        <message>
            <source>Norm</source>
            <translation>范数</translation>
        </message>
        <message>
            <source>Power of the errors that are summed. 2 is least squares. Above it large errors count more, which protects outlying weights; below it a few large errors are let be for many small ones.</source>
            <translation>求和时误差的幂次。2 即最小二乘。更高则大误差更受重视，可保护离群的权重；更低则容许少数大误差，以换取许多小误差。</translation>
        </message>
        <message>
            <source>Iterations</source>
            <translation>迭代次数</translation>
        </message>
        <message>
            <source>Steps of the fit. Beyond 10 hardly a grid moves.</source>
            <translation>拟合的步数。超过 10 步后网格几乎不再变化。</translation>
        </message>
        <message>
            <source>Half-quadratic</source>
            <translation>半二次</translation>
        </message>
        <message>
            <source>A minute, needs no data. Round to nearest on a grid fitted to the bulk of the weights: better at 4 bits and below.</source>
            <translation>约一分钟，不需要数据。在贴合大部分权重的网格上就近舍入：在 4 位及以下更好。</translation>
        </message>
        <message>
            <source>Grid of the inputs</source>
            <translation>输入的网格</translation>
        </message>
        <message>
            <source>Symmetric: what integer kernels multiply fastest. With an offset the grid fits inputs that are mostly of one sign; choose it where symmetric loses too much.</source>
            <translation>对称：整数内核相乘最快。带偏移的网格适合大多同号的输入；对称损失太多时选用。</translation>
        </message>
        <message>
            <source>8 bits, dynamic</source>
            <translation>8 位，动态</translation>
        </message>
        <message>
            <source>Seconds, needs no data. 8-bit weights and inputs: multiplies in integers where the runtime can. Outliers cost accuracy.</source>
            <translation>数秒，不需要数据。权重和输入均为 8 位：运行时支持之处以整数相乘。离群值会损失准确率。</translation>
        </message>
        <message>
            <source>Range of the inputs</source>
            <translation>输入的范围</translation>
        </message>
        <message>
            <source>What the fixed scale covers. Least error: where clipping and coarse steps together cost least. Largest and smallest clip nothing. Percentile leaves out the outermost numbers; entropy keeps the shape of their distribution.</source>
            <translation>固定缩放系数所覆盖的范围。最小误差：截断与粗步长的总代价最小之处。最大与最小值：什么也不截断。百分位数：略去最外侧的数值；熵：保持其分布的形状。</translation>
        </message>
        <message>
            <source>Least error</source>
            <translation>最小误差</translation>
        </message>
        <message>
            <source>Largest and smallest</source>
            <translation>最大与最小值</translation>
        </message>
        <message>
            <source>Percentile</source>
            <translation>百分位数</translation>
        </message>
        <message>
            <source>Entropy (KL)</source>
            <translation>熵 (KL)</translation>
        </message>
        <message>
            <source>Share of the numbers that the range covers. Lower clips more and makes the steps finer.</source>
            <translation>范围所覆盖的数值份额。越低截断越多，步长越细。</translation>
        </message>
        <message>
            <source>Symmetric: what integer kernels multiply fastest. With an offset the grid fits inputs that are mostly of one sign.</source>
            <translation>对称：整数内核相乘最快。带偏移的网格适合大多同号的输入。</translation>
        </message>
        <message>
            <source>Smoothing</source>
            <translation>平滑</translation>
        </message>
        <message>
            <source>How far outliers are moved into the weights beforehand, where the layout allows it. 0: not at all.</source>
            <translation>在结构允许之处，事先把离群值移入权重的程度。0：完全不移。</translation>
        </message>
        <message>
            <source>Windows of text whose inputs are looked at. Too few miss the outliers; time grows with it.</source>
            <translation>查看其输入的文本窗口数。太少会漏掉离群值；耗时随之增加。</translation>
        </message>
        <message>
            <source>8 bits, static</source>
            <translation>8 位，静态</translation>
        </message>
        <message>
            <source>A minute, needs a text. The simplest integer arithmetic, one fixed scale a layer; loses the most of the 8-bit methods.</source>
            <translation>约一分钟，需要文本。最简单的整数运算，每层一个固定缩放系数；是 8 位方法中损失最大的。</translation>
        </message>
        <message>
            <source>What bounds the choice: the size of the layers, or how far the outputs may move. The other is made as small as can be.</source>
            <translation>以什么限制选择：各层的大小，或输出允许的偏移。另一项则尽可能小。</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <source>KL divergence</source>
            <translation>KL 散度</translation>
        </message>
        <message>
            <source>Bits a weight</source>
            <translation>每权重位数</translation>
        </message>
        <message>
            <source>What the linear layers' weights may take on average, scales and zeros counted. 4 bits in groups of 64 take 4.25.</source>
            <translation>线性层的权重平均可占的位数，含缩放系数和零点。4 位、每组 64 个时为 4.25。</translation>
        </message>
        <message>
            <source>KL</source>
            <translation>KL</translation>
        </message>
        <message>
            <source>What the layers' single KLs may sum to. An estimate of the whole model's: rounding by GPTQ mostly comes out below it.</source>
            <translation>各层单独的 KL 之和的上限。它是对整个模型 KL 的估计：用 GPTQ 舍入的结果大多低于它。</translation>
        </message>
        <message>
            <source>nats</source>
            <translation>纳特</translation>
        </message>
        <message>
            <source>Widths</source>
            <translation>位宽</translation>
        </message>
        <message>
            <source>All: each layer gets 8, 6, 5, 4, 3 or 2 bits. 8 and 4: those that this program computes with packed, on the CPU.</source>
            <translation>全部：每层为 8、6、5、4、3 或 2 位。8 和 4：本程序在 CPU 上能以打包形式计算的位宽。</translation>
        </message>
        <message>
            <source>8 to 2 bits</source>
            <translation>8 至 2 位</translation>
        </message>
        <message>
            <source>8 and 4 bits</source>
            <translation>8 和 4 位</translation>
        </message>
        <message>
            <source>Rounding</source>
            <translation>舍入</translation>
        </message>
        <message>
            <source>How each layer is rounded to the grid that it got. GPTQ is the most accurate, round to nearest the fastest.</source>
            <translation>每层如何舍入到分得的网格。GPTQ 最准确，就近舍入最快。</translation>
        </message>
        <message>
            <source>Round to nearest</source>
            <translation>就近舍入</translation>
        </message>
        <message>
            <source>Columns that share a scale, below 8 bits. Where it doesn't divide the model's widths, the next smaller that does is taken.</source>
            <translation>低于 8 位时共用一个缩放系数的列数。若它不能整除模型的宽度，则取能整除的下一个较小值。</translation>
        </message>
        <message>
            <source>Search for each scale the range with the least squared error, below 8 bits.</source>
            <translation>低于 8 位时，为每个缩放系数寻找平方误差最小的范围。</translation>
        </message>
        <message>
            <source>Windows for sensitivity</source>
            <translation>敏感度窗口数</translation>
        </message>
        <message>
            <source>Windows of text on which each layer's sensitivity is measured. Time grows with it.</source>
            <translation>用于测量每层敏感度的文本窗口数。耗时随之增加。</translation>
        </message>
        <message>
            <source>Context for sensitivity</source>
            <translation>敏感度上下文</translation>
        </message>
        <message>
            <source>Tokens of each of these windows.</source>
            <translation>这些窗口各自的词元数。</translation>
        </message>
        <message>
            <source>Bits of each layer</source>
            <translation>每层的位数</translation>
        </message>
        <message>
            <source>A choice made by hand instead of by budget: layer=bits, * for any part of a name, the last that fits counts, 'dense' for a layer left as it is. Such as *=4, *.down_proj=6.</source>
            <translation>手动选择而非按预算：层=位数，* 代表名称的任意部分，以最后一个匹配的为准，“dense”表示该层保持原样。例如 *=4, *.down_proj=6。</translation>
        </message>
        <message>
            <source>No layer is given any bits, so nothing would change.</source>
            <translation>没有为任何层指定位数，因此什么都不会改变。</translation>
        </message>
        <message>
            <source>Give at least one layer a width.</source>
            <translation>请至少为一层指定位宽。</translation>
        </message>
        <message>
            <source>Mixed precision</source>
            <translation>混合精度</translation>
        </message>
        <message>
            <source>Minutes, needs a text. Measures how sensitive each layer is, and gives it its bits: better than one width at the same size.</source>
            <translation>数分钟，需要文本。测量每层有多敏感并据此分配位数：同样大小下优于单一位宽。</translation>
        </message>
        <message>
            <source>No choice of bits takes {asked} bits a weight or fewer: the smallest takes {least}.</source>
            <translation>没有哪种位数选择能做到每权重不超过 {asked} 位：最小的也要 {least} 位。</translation>
        </message>
        <message>
            <source>Raise the budget, or allow more widths.</source>
            <translation>请提高预算，或允许更多位宽。</translation>
        </message>
        <message>
            <source>No choice of bits has a sum of KLs of {asked} or less: the least is {least}.</source>
            <translation>没有哪种位数选择的 KL 之和不超过 {asked}：最小为 {least}。</translation>
        </message>
        <message>
            <source>Raise the budget.</source>
            <translation>请提高预算。</translation>
        </message>
        <message>
            <source>Weights</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>The numbers that the weights may be. Automatic: the grid of the variant where it's quantized already, else 4 bits.</source>
            <translation>权重可取的数值。自动：变体已量化时用其自身的网格，否则 4 位。</translation>
        </message>
        <message>
            <source>Columns that share a scale. Where it doesn't divide the model's widths, the next smaller size that does is taken, and said. 8 bits and fp8 have one scale a row.</source>
            <translation>共用一个缩放系数的列数。若它不能整除模型的宽度，则取能整除的下一个较小值，并加以说明。8 位和 fp8 每行一个缩放系数。</translation>
        </message>
        <message>
            <source>Zero lies in the middle of the grid. Without it the grid fits better at 4 bits and below, but inputs must stay as they are.</source>
            <translation>零位于网格中央。关闭时，网格在 4 位及以下更贴合，但输入必须保持原样。</translation>
        </message>
        <message>
            <source>What the layers' inputs are rounded to, token by token. Choose it where the runtime multiplies in 8 bits.</source>
            <translation>各层的输入逐词元舍入到什么。运行时以 8 位相乘时选用。</translation>
        </message>
        <message>
            <source>Learn the scales</source>
            <translation>学习缩放系数</translation>
        </message>
        <message>
            <source>Scales are trained with the weights. Turn it off only to compare.</source>
            <translation>缩放系数与权重一起训练。仅为比较时才关闭。</translation>
        </message>
        <message>
            <source>The teacher: what the model said before it was quantized, which keeps it what it was. The text: what's written there.</source>
            <translation>教师：模型量化之前的输出，使它保持原貌。文本：其中所写的内容。</translation>
        </message>
        <message>
            <source>The teacher</source>
            <translation>教师</translation>
        </message>
        <message>
            <source>Both</source>
            <translation>两者</translation>
        </message>
        <message>
            <source>Teacher</source>
            <translation>教师</translation>
        </message>
        <message>
            <source>The variant to stay close to. None: the variant that this is applied to, unless it's quantized already; then name the one that it was made from.</source>
            <translation>要贴近的变体。无：即所用于的变体，除非它已量化；那时请指定生成它的变体。</translation>
        </message>
        <message>
            <source>The variant that it's applied to</source>
            <translation>所应用到的变体本身</translation>
        </message>
        <message>
            <source>Softens both models' probabilities before they're compared. Higher teaches more of unlikely tokens.</source>
            <translation>比较之前使两个模型的概率更平缓。越高，教给学生的不太可能的词元越多。</translation>
        </message>
        <message>
            <source>Updates of the weights. More is better until the loss on text kept aside stops falling.</source>
            <translation>权重更新的次数。越多越好，直到预留文本上的损失不再下降。</translation>
        </message>
        <message>
            <source>Size of the updates at their largest. Halve it where the loss on text kept aside rises; raise it for 3 bits and below.</source>
            <translation>更新幅度的最大值。预留文本上的损失上升时减半；3 位及以下可调高。</translation>
        </message>
        <message>
            <source>Quantization-aware training</source>
            <translation>量化感知训练</translation>
        </message>
        <message>
            <source>Minutes to hours, needs a text. The best accuracy at 4 bits and below: the model learns to live with its grid.</source>
            <translation>数分钟到数小时，需要文本。4 位及以下准确率最好：模型学会适应自己的网格。</translation>
        </message>
        <message>
            <source>{teacher} has other tokens than {name}, so it can't teach it token by token.</source>
            <translation>{teacher} 的词元与 {name} 的不同，因此无法逐词元地教它。</translation>
        </message>
        <message>
            <source>Choose the variant that it was made from.</source>
            <translation>请选择生成它的变体。</translation>
        </message>
        <message>
            <source>{name} is quantized already, so it can't be its own teacher.</source>
            <translation>{name} 已经量化，因此不能做自己的教师。</translation>
        </message>
        <message>
            <source>Choose as the teacher the variant that it was made from, or learn from the text.</source>
            <translation>请选择生成它的变体作为教师，或从文本学习。</translation>
        </message>
        <message>
            <source>A quantized variant learns on with the grid that it has.</source>
            <translation>已量化的变体以现有的网格继续学习。</translation>
        </message>
        <message>
            <source>Leave weights and inputs at their defaults, or apply this to the variant before the quantization.</source>
            <translation>请将权重和输入保留默认值，或把它用在量化之前的变体上。</translation>
        </message>
        <message>
            <source>Grids with an offset below 8 bits can't be joined with rounded inputs: plain transformers would leave the rounding out.</source>
            <translation>低于 8 位的带偏移网格不能与舍入的输入结合：普通 transformers 会略去输入的舍入。</translation>
        </message>
        <message>
            <source>Choose a symmetric grid, or leave the inputs as they are.</source>
            <translation>请选择对称网格，或让输入保持原样。</translation>
        </message>
        <message>
            <source>Search for each scale the range with the least squared error, instead of reaching to the largest weight. Takes some twenty times longer; helps at 4 bits and below.</source>
            <translation>为每个缩放系数寻找平方误差最小的范围，而不是覆盖到最大的权重。耗时约为二十倍；在 4 位及以下有帮助。</translation>
        </message>
        <message>
            <source>Seconds, needs no data. 8 bits: half the size, hardly a loss. 4 bits: a quarter, and it shows.</source>
            <translation>数秒，不需要数据。8 位：大小减半，几乎没有损失。4 位：四分之一，能看出损失。</translation>
        </message>
        <message>
            <source>Strength</source>
            <translation>强度</translation>
        </message>
        <message>
            <source>How far outliers are moved into the weights. Searched: for each place what gives the least error on the text. Fixed: the same everywhere, as in the paper.</source>
            <translation>把离群值移入权重的程度。搜索：为每一处取在文本上误差最小的值。固定：处处相同，与论文一致。</translation>
        </message>
        <message>
            <source>Searched</source>
            <translation>搜索</translation>
        </message>
        <message>
            <source>The same everywhere</source>
            <translation>处处相同</translation>
        </message>
        <message>
            <source>Alpha</source>
            <translation>Alpha（α）</translation>
        </message>
        <message>
            <source>0: only the weights are evened out. 1: only the inputs. 0.5 halves the difficulty; Llama-like models often want 0.8.</source>
            <translation>0：只使权重均匀。1：只使输入均匀。0.5 使难度各半；Llama 类模型往往需要 0.8。</translation>
        </message>
        <message>
            <source>Smooth behind</source>
            <translation>平滑位置</translation>
        </message>
        <message>
            <source>Norms only, as in the paper, or values and the MLP's inner layer too, where that changes nothing else.</source>
            <translation>与论文一样只在归一化之后，或在不改变其他结果之处也包括值投影和 MLP 的内层。</translation>
        </message>
        <message>
            <source>Everything that allows it</source>
            <translation>所有允许之处</translation>
        </message>
        <message>
            <source>Norms only</source>
            <translation>仅归一化</translation>
        </message>
        <message>
            <source>Windows of text whose inputs are looked at. 16 are enough for most models; time grows with it.</source>
            <translation>查看其输入的文本窗口数。16 个对大多数模型足够；耗时随之增加。</translation>
        </message>
        <message>
            <source>SmoothQuant</source>
            <translation>SmoothQuant</translation>
        </message>
        <message>
            <source>A minute, needs a text. 8-bit weights and inputs with hardly a loss, where the layers' layout allows it.</source>
            <translation>约一分钟，需要文本。在层的结构允许之处，权重和输入均为 8 位而几乎没有损失。</translation>
        </message>
        <message>
            <source>Weights that learn</source>
            <translation>参与学习的权重</translation>
        </message>
        <message>
            <source>All: the best accuracy. Only the head: three times as fast, and the encoder stays as it is.</source>
            <translation>全部：准确率最好。仅分类头：速度为三倍，编码器保持原样。</translation>
        </message>
        <message>
            <source>All</source>
            <translation>全部</translation>
        </message>
        <message>
            <source>Only the head</source>
            <translation>仅分类头</translation>
        </message>
        <message>
            <source>Updates of the weights. One to three passes over the examples are usual; more is better until the loss on examples kept aside stops falling.</source>
            <translation>权重更新的次数。通常为遍历样例一到三遍；越多越好，直到预留样例上的损失不再下降。</translation>
        </message>
        <message>
            <source>Examples a step. Larger is steadier and slower.</source>
            <translation>每步的样例数。越大越平稳也越慢。</translation>
        </message>
        <message>
            <source>examples</source>
            <translation>样例</translation>
        </message>
        <message>
            <source>Longer texts are cut at so many tokens. Memory and time grow with it.</source>
            <translation>更长的文本在此词元数处截断。内存和耗时随之增加。</translation>
        </message>
        <message>
            <source>Size of the updates at their largest. Halve it where the loss jumps; for the head alone take ten times as much.</source>
            <translation>更新幅度的最大值。损失跳动时减半；只训练分类头时取十倍。</translation>
        </message>
        <message>
            <source>Teach to classify</source>
            <translation>教会分类</translation>
        </message>
        <message>
            <source>Minutes, needs labels. Gives an encoder a head that tells classes of text apart; its accuracy is measured from then on.</source>
            <translation>数分钟，需要标签。给编码器加上区分文本类别的分类头；此后测量它的准确率。</translation>
        </message>
        <message>
            <source>transformers has no classifier for {architecture}.</source>
            <translation>transformers 没有 {architecture} 的分类器。</translation>
        </message>
        <message>
            <source>Choose another encoder.</source>
            <translation>请选择另一个编码器。</translation>
        </message>
        <message>
            <source>The weights of {architecture} don't fit the classifier of its kind.</source>
            <translation>{architecture} 的权重与同类的分类器不匹配。</translation>
        </message>
        <message>
            <source>The detail names them; please report this model.</source>
            <translation>详情列出了它们；请报告这个模型。</translation>
        </message>
        <message>
            <source>Keep zeros</source>
            <translation>保持零</translation>
        </message>
        <message>
            <source>Whether weights of linear layers that are exactly zero stay so. Automatic: where more than 1 % are, as after pruning. Never undoes the pruning.</source>
            <translation>线性层中恰好为零的权重是否保持为零。自动：当超过 1 % 为零时保持，例如剪枝之后。绝不会撤销剪枝。</translation>
        </message>
        <message>
            <source>Where it was pruned</source>
            <translation>在剪过的地方</translation>
        </message>
        <message>
            <source>Always</source>
            <translation>总是</translation>
        </message>
        <message>
            <source>Never</source>
            <translation>从不</translation>
        </message>
        <message>
            <source>The text (a classifier: the labels) alone, or also what the uncut model predicts, which heals better on little data and takes a third longer.</source>
            <translation>只用文本（分类器：标签），或同时用未削减的模型的预测；后者在数据少时恢复得更好，耗时多三分之一。</translation>
        </message>
        <message>
            <source>Whose predictions it learns from. Empty: the model that this one was cut down from.</source>
            <translation>学习谁的预测。留空：这个模型削减之前的模型。</translation>
        </message>
        <message>
            <source>The model that it was cut down from</source>
            <translation>它由之裁剪而来的模型</translation>
        </message>
        <message>
            <source>How much the text or the labels count beside the teacher. 0: only the teacher.</source>
            <translation>除教师之外，文本或标签占多大分量。0：只看教师。</translation>
        </message>
        <message>
            <source>Size of the updates at their largest. Halve it where perplexity on text kept aside rises; raise it for small models and deep cuts.</source>
            <translation>更新幅度的最大值。预留文本上的困惑度上升时减半；小模型和深度削减可调高。</translation>
        </message>
        <message>
            <source>Fine-tune</source>
            <translation>微调</translation>
        </message>
        <message>
            <source>Minutes to hours, needs a text or labels. Wins back much of what pruning cost, on data of that kind; zeros stay zeros.</source>
            <translation>数分钟到数小时，需要文本或标签。在同类数据上找回剪枝所失去的大部分；零保持为零。</translation>
        </message>
        <message>
            <source>{name} wasn't cut down from another model here, so there is none to learn from.</source>
            <translation>{name} 不是在这里由另一个模型削减而来的，因此没有可学习的对象。</translation>
        </message>
        <message>
            <source>Choose a teacher, or learn from the text alone.</source>
            <translation>请选择教师，或只从文本学习。</translation>
        </message>
        <message>
            <source>{teacher} can't teach {name}: its tokens, its classes or its task are others.</source>
            <translation>{teacher} 不能教 {name}：词元、类别或任务不同。</translation>
        </message>
        <message>
            <source>Choose a teacher with the same tokenizer that does the same.</source>
            <translation>请选择分词器和任务都相同的教师。</translation>
        </message>
        <message>
            <source>What the uncut model says of noisy images, which heals fastest; or the images alone, which need no other model.</source>
            <translation>未削减的模型对带噪图像的回答，恢复最快；或只用图像，不需要别的模型。</translation>
        </message>
        <message>
            <source>The uncut model</source>
            <translation>未削减的模型</translation>
        </message>
        <message>
            <source>The images alone</source>
            <translation>只用图像</translation>
        </message>
        <message>
            <source>Whose answers it learns from. Empty: the model that this one was cut down from.</source>
            <translation>向谁的回答学习。留空：它由之削减而来的模型。</translation>
        </message>
        <message>
            <source>Updates</source>
            <translation>更新次数</translation>
        </message>
        <message>
            <source>Updates of the weights. More is better until the loss on images kept aside stops falling.</source>
            <translation>权重更新的次数。越多越好，直到预留图像上的损失不再下降。</translation>
        </message>
        <message>
            <source>Size of the updates at their largest. Halve it where the loss jumps; it falls to almost nothing towards the end.</source>
            <translation>更新的最大幅度。损失跳动时请减半；到末尾它会降到几乎为零。</translation>
        </message>
        <message>
            <source>Whether weights of convolutions and linear layers that are exactly zero stay so. Automatic: where more than 1 % are, as after pruning.</source>
            <translation>卷积层和线性层中恰为零的权重是否保持为零。自动：超过 1 % 为零时（如剪枝之后）保持。</translation>
        </message>
        <message>
            <source>{name} was distilled to draw in {steps} steps, and of what it has to say at them images know nothing.</source>
            <translation>{name} 经蒸馏后用 {steps} 步绘制，它在这些步上该说什么，图像无从告知。</translation>
        </message>
        <message>
            <source>Let it learn from the variant that it was cut down from.</source>
            <translation>请让它向其由之削减而来的变体学习。</translation>
        </message>
        <message>
            <source>Fine-tune on images</source>
            <translation>在图像上微调</translation>
        </message>
        <message>
            <source>Minutes, needs images. Wins back much of what pruning cost a diffusion model, at as many steps; zeros stay zeros.</source>
            <translation>需几分钟和图像。以同样的步数找回剪枝使扩散模型失去的大部分；零保持为零。</translation>
        </message>
        <message>
            <source>Choose a teacher, or learn from the images alone.</source>
            <translation>请选择教师，或只向图像学习。</translation>
        </message>
        <message>
            <source>{teacher} can't teach {name}: its images, its classes, its noise or its number of steps are others.</source>
            <translation>{teacher} 不能教 {name}：其图像、类别、噪声或步数不同。</translation>
        </message>
        <message>
            <source>Choose the variant that it was pruned from, or learn from the images alone.</source>
            <translation>请选择它由之剪枝而来的变体，或只向图像学习。</translation>
        </message>
        <message>
            <source>All: learns most. Low rank: a small addition to each linear layer, folded into it at the end; needs a third of the memory and forgets less of what the model knew.</source>
            <translation>全部：学得最多。低秩：给每个线性层加上小的附加项，最后并入其中；只需三分之一的内存，也更少忘记模型原来所知的。</translation>
        </message>
        <message>
            <source>Low-rank additions (LoRA)</source>
            <translation>低秩附加项 (LoRA)</translation>
        </message>
        <message>
            <source>Rank</source>
            <translation>秩</translation>
        </message>
        <message>
            <source>Of the additions. Higher learns more and takes more memory; 8 to 64 are usual.</source>
            <translation>附加项的秩。越高学得越多，占用内存也越多；通常为 8 到 64。</translation>
        </message>
        <message>
            <source>Learning rate of the additions</source>
            <translation>附加项的学习率</translation>
        </message>
        <message>
            <source>Ten times that of full fine-tuning is usual. Halve it where perplexity on text kept aside rises.</source>
            <translation>通常为全量微调的十倍。预留文本上的困惑度上升时减半。</translation>
        </message>
        <message>
            <source>Measuring sensitivity</source>
            <translation>正在测量敏感度</translation>
        </message>
        <message>
            <source>The model's outputs aren't numbers (NaN or infinite), so they can't be compared.</source>
            <translation>模型的输出不是数字（NaN 或无穷），因此无法比较。</translation>
        </message>
        <message>
            <source>{architecture} gives no probabilities, so there is no KL to measure.</source>
            <translation>{architecture} 不给出概率，因此没有 KL 可测。</translation>
        </message>
        <message>
            <source>Choose a model that generates text, or a classifier.</source>
            <translation>请选择生成文本的模型，或分类器。</translation>
        </message>
        <message>
            <source>The outputs on {tokens} tokens take {needed} MB, and {free} MB are free.</source>
            <translation>{tokens} 个词元的输出需要 {needed} MB，而可用的有 {free} MB。</translation>
        </message>
        <message>
            <source>Choose fewer or shorter windows.</source>
            <translation>请选择更少或更短的窗口。</translation>
        </message>
        <message>
            <source>Not all linear layers of {block} are used when it runs ({layers}), so it can't be calibrated.</source>
            <translation>{block} 运行时并非所有线性层都被用到（{layers}），因此无法校准。</translation>
        </message>
        <message>
            <source>Choose a method that needs no data, such as rtn.</source>
            <translation>请选择不需要数据的方法，例如 rtn。</translation>
        </message>
        <message>
            <source>The activations of {windows} windows of {context} tokens take {needed} MB, and {free} MB are free.</source>
            <translation>{windows} 个 {context} 词元窗口的激活需要 {needed} MB，而可用的有 {free} MB。</translation>
        </message>
        <message>
            <source>{architecture} can't be worked on block by block: {why}.</source>
            <translation>无法逐块处理 {architecture}：{why}。</translation>
        </message>
        <message>
            <source>Windows of text, or labelled examples, a step. Larger is steadier and slower; halve it where memory runs out.</source>
            <translation>每步的文本窗口数或带标签的样例数。越大越平稳也越慢；内存不足时减半。</translation>
        </message>
        <message>
            <source>windows</source>
            <translation>个窗口</translation>
        </message>
        <message>
            <source>Tokens a window, or of an example at most. Memory and time grow with it; longer than what the model will read later is wasted.</source>
            <translation>每个窗口的词元数，或每个样例的词元数上限。内存和耗时随之增加；比模型以后要读的更长则是浪费。</translation>
        </message>
        <message>
            <source>Warm-up</source>
            <translation>预热</translation>
        </message>
        <message>
            <source>Share of the steps in which the learning rate grows from nothing to its full size. Raise it where the loss jumps at first.</source>
            <translation>学习率从零增长到最大值所占的步数份额。开始时损失跳动则调高。</translation>
        </message>
        <message>
            <source>Weight decay</source>
            <translation>权重衰减</translation>
        </message>
        <message>
            <source>Pull of the weights towards zero at each step. Raise it to 0.1 for long trainings on little text.</source>
            <translation>每一步把权重拉向零的力度。在少量文本上长时间训练时可调到 0.1。</translation>
        </message>
        <message>
            <source>Precision</source>
            <translation>精度</translation>
        </message>
        <message>
            <source>In which forward and backward are computed; the weights are kept in float32. Automatic: bfloat16 on a GPU or CPU that multiplies in it, else float32.</source>
            <translation>前向和反向计算所用的精度；权重保持 float32。自动：GPU 或 CPU 能以 bfloat16 相乘时用它，否则用 float32。</translation>
        </message>
        <message>
            <source>float32</source>
            <translation>float32</translation>
        </message>
        <message>
            <source>bfloat16</source>
            <translation>bfloat16</translation>
        </message>
        <message>
            <source>Gradient bits</source>
            <translation>梯度位数</translation>
        </message>
        <message>
            <source>Bits of each gradient, rounded at random so that the mean stays right, as machines that train together would send them. 8 learns like 32; below, use error feedback.</source>
            <translation>每个梯度的位数，随机舍入以使均值不变，如同协同训练的机器之间传送的那样。8 位的学习效果与 32 位相当；更低时请使用误差反馈。</translation>
        </message>
        <message>
            <source>32, not quantized</source>
            <translation>32，不量化</translation>
        </message>
        <message>
            <source>Gradient scale for each</source>
            <translation>梯度缩放系数的范围</translation>
        </message>
        <message>
            <source>Gradients that share a scale. An output row costs four bytes more a row and rounds much finer than a whole tensor.</source>
            <translation>共用一个缩放系数的梯度。按输出行时每行多四字节，但舍入比整个张量细得多。</translation>
        </message>
        <message>
            <source>Tensor</source>
            <translation>张量</translation>
        </message>
        <message>
            <source>Error feedback</source>
            <translation>误差反馈</translation>
        </message>
        <message>
            <source>Rounds to nearest, and adds to each gradient what rounding took from the last one. Try it at 4 bits and below; takes memory for one more copy of the weights.</source>
            <translation>就近舍入，并把上一次舍入所去掉的部分加到下一个梯度上。可在 4 位及以下尝试；需多占一份权重的内存。</translation>
        </message>
        <message>
            <source>{name} has {tokens} tokens; training with a context of {context} needs {needed}, part of them kept aside.</source>
            <translation>{name} 有 {tokens} 个词元；以 {context} 的上下文训练需要 {needed} 个，其中一部分要留出。</translation>
        </message>
        <message>
            <source>Choose a longer text, or a context of at most {most}.</source>
            <translation>请选择更长的文本，或不超过 {most} 的上下文。</translation>
        </message>
        <message>
            <source>The training diverged: at step {step} the loss isn't a number any more.</source>
            <translation>训练发散了：在第 {step} 步，损失不再是数字。</translation>
        </message>
        <message>
            <source>Choose a smaller learning rate or a longer warm-up.</source>
            <translation>请选择更小的学习率或更长的预热。</translation>
        </message>
        <message>
            <source>The transformer blocks of {architecture} can't be recognised.</source>
            <translation>无法识别 {architecture} 的 transformer 块。</translation>
        </message>
        <message>
            <source>Methods that work block by block can't be used on it.</source>
            <translation>逐块进行的方法不能用在它上面。</translation>
        </message>
        <message>
            <source>Inspecting</source>
            <translation>正在检视</translation>
        </message>
        <message>
            <source>Dequantizing</source>
            <translation>正在反量化</translation>
        </message>
        <message>
            <source>Copying</source>
            <translation>正在复制</translation>
        </message>
        <message>
            <source>Converting</source>
            <translation>正在转换</translation>
        </message>
        <message>
            <source>Choose bfloat16 or float32.</source>
            <translation>请选择 bfloat16 或 float32。</translation>
        </message>
        <message>
            <source>Checking weights</source>
            <translation>正在检查权重</translation>
        </message>
        <message>
            <source>{tensor} holds {count} values that aren't finite numbers (NaN or infinity), so nothing could be measured on this model.</source>
            <translation>{tensor} 含有 {count} 个非有限数值（NaN 或无穷），因此在这个模型上什么也测不了。</translation>
        </message>
        <message>
            <source>Get an undamaged copy of it.</source>
            <translation>请换一份没有损坏的副本。</translation>
        </message>
        <message>
            <source>Checking that it loads</source>
            <translation>正在检查能否加载</translation>
        </message>
        <message>
            <source>The model takes {needed} MB of memory, and {free} MB are free.</source>
            <translation>模型需要 {needed} MB 内存，而可用 {free} MB。</translation>
        </message>
        <message>
            <source>{name} loads, but computes values that aren't finite numbers.</source>
            <translation>{name} 可以加载，但算出的数值不是有限数。</translation>
        </message>
        <message>
            <source>Try another precision to store it in: float32 or bfloat16.</source>
            <translation>请换一种存储精度：float32 或 bfloat16。</translation>
        </message>
        <message>
            <source>Dequantizing {name} takes {needed} MB of memory, and {free} MB are free.</source>
            <translation>反量化 {name} 需要 {needed} MB 内存，而可用 {free} MB。</translation>
        </message>
        <message>
            <source>Reading</source>
            <translation>正在读取</translation>
        </message>
        <message>
            <source>{file} couldn't be converted: {reason}</source>
            <translation>无法转换 {file}：{reason}</translation>
        </message>
        <message>
            <source>Open the model's original folder instead.</source>
            <translation>请改为打开该模型的原始文件夹。</translation>
        </message>
        <message>
            <source>Apple GPU</source>
            <translation>Apple GPU</translation>
        </message>
        <message>
            <source>There is no device called {name}.{suggestion}</source>
            <translation>没有名为 {name} 的设备。{suggestion}</translation>
        </message>
        <message>
            <source>Choose auto, cpu, cuda:0 or mps.</source>
            <translation>请选择 auto、cpu、cuda:0 或 mps。</translation>
        </message>
        <message>
            <source>This machine has no {name} that torch can use.</source>
            <translation>本机没有 torch 能用的 {name}。</translation>
        </message>
        <message>
            <source>It has: {known}.</source>
            <translation>现有：{known}。</translation>
        </message>
        <message>
            <source>{name} isn't a precision to compute in.{suggestion}</source>
            <translation>{name} 不是可用于计算的精度。{suggestion}</translation>
        </message>
        <message>
            <source>Choose auto, float32, bfloat16 or float16.</source>
            <translation>请选择 auto、float32、bfloat16 或 float16。</translation>
        </message>
        <message>
            <source>An image can't be drawn in {steps} steps: the model knows {total} levels of noise.</source>
            <translation>无法用 {steps} 步画图：模型只有 {total} 级噪声。</translation>
        </message>
        <message>
            <source>Choose from 1 to {total} steps.</source>
            <translation>请选择 1 到 {total} 步。</translation>
        </message>
        <message>
            <source>This diffusion model has a {what} that Spokeshave doesn't know: {value}.</source>
            <translation>此扩散模型的 {what} 是 Spokeshave 不认识的：{value}。</translation>
        </message>
        <message>
            <source>Models with a DDPM or DDIM scheduler can be opened.</source>
            <translation>可以打开使用 DDPM 或 DDIM 调度器的模型。</translation>
        </message>
        <message>
            <source>{name} is a {pipeline}, made of {parts}. Of diffusion models, those with one UNet2DModel can be opened.</source>
            <translation>{name} 是 {pipeline}，由 {parts} 组成。扩散模型中只能打开含单个 UNet2DModel 的。</translation>
        </message>
        <message>
            <source>Choose a model that draws pixels, without a text encoder or an autoencoder.</source>
            <translation>请选择直接画像素、没有文本编码器和自编码器的模型。</translation>
        </message>
        <message>
            <source>{name} has no {file}.</source>
            <translation>{name} 中没有 {file}。</translation>
        </message>
        <message>
            <source>Download the model again.</source>
            <translation>请重新下载该模型。</translation>
        </message>
        <message>
            <source>{name} has no {file} in its folder unet.</source>
            <translation>{name} 的 unet 文件夹中没有 {file}。</translation>
        </message>
        <message>
            <source>Save it as one safetensors file, or download it again.</source>
            <translation>请保存为单个 safetensors 文件，或重新下载。</translation>
        </message>
        <message>
            <source>The UNet of {name} can't be built from its config: {reason}</source>
            <translation>无法按配置构建 {name} 的 UNet：{reason}</translation>
        </message>
        <message>
            <source>Check unet/config.json, or download the model again.</source>
            <translation>请检查 unet/config.json，或重新下载模型。</translation>
        </message>
        <message>
            <source>{count} weights of {name} don't fit its unet/config.json, {first} among them.</source>
            <translation>{name} 有 {count} 个权重与其 unet/config.json 不符，其中有 {first}。</translation>
        </message>
        <message>
            <source>Check that config and weights belong together.</source>
            <translation>请检查配置与权重是否匹配。</translation>
        </message>
        <message>
            <source>Saving</source>
            <translation>正在保存</translation>
        </message>
        <message>
            <source>{name} can't draft with the list of tokens in {file}: it isn't a list of tokens.</source>
            <translation>{name} 无法用 {file} 中的 词元列表打草稿：它不是 词元列表。</translation>
        </message>
        <message>
            <source>{name} can't draft with the list of tokens in {file}: the model's output layer has no row for each token.</source>
            <translation>{name} 无法用 {file} 中的 词元列表打草稿：模型的输出层并非每个词元 都有对应的一行。</translation>
        </message>
        <message>
            <source>{name} can't draft with the list of tokens in {file}: they aren't the model's.</source>
            <translation>{name} 无法用 {file} 中的 词元列表打草稿：其中的词元不属于该模型。</translation>
        </message>
        <message>
            <source>Delete that file: the model then drafts with all its tokens, only slower.</source>
            <translation>请删除该文件：模型便用其全部词元打草稿，只是更慢。</translation>
        </message>
        <message>
            <source>{name} is stored quantized in a way that Spokeshave doesn't read ({format}).</source>
            <translation>{name} 以 Spokeshave 不读取的方式量化存储（{format}）。</translation>
        </message>
        <message>
            <source>Choose its unquantized original, or a copy in compressed-tensors, GPTQ, AWQ (gemm), bitsandbytes, FP8 or GGUF.</source>
            <translation>请选择未量化的原始模型，或 compressed-tensors、GPTQ、AWQ (gemm)、bitsandbytes、FP8 或 GGUF 格式的副本。</translation>
        </message>
        <message>
            <source>The quantized weight {layer} is damaged or of an unknown layout.</source>
            <translation>量化权重 {layer} 已损坏或布局未知。</translation>
        </message>
        <message>
            <source>Download the model again, or choose its unquantized original.</source>
            <translation>请重新下载模型，或选择其未量化的原始模型。</translation>
        </message>
        <message>
            <source>{file} isn't a GGUF file.</source>
            <translation>{file} 不是 GGUF 文件。</translation>
        </message>
        <message>
            <source>Choose a .gguf file or a model's folder.</source>
            <translation>请选择 .gguf 文件或模型的文件夹。</translation>
        </message>
        <message>
            <source>{file} is of GGUF version {version}, which isn't read here.</source>
            <translation>{file} 是 GGUF 版本 {version}，这里不读取。</translation>
        </message>
        <message>
            <source>Convert it with a current llama.cpp; big-endian files aren't read at all.</source>
            <translation>请用当前的 llama.cpp 转换；大端文件完全不支持读取。</translation>
        </message>
        <message>
            <source>{file} is of the architecture {architecture}, which can't be converted from GGUF here.</source>
            <translation>{file} 的架构是 {architecture}，这里不能从 GGUF 转换。</translation>
        </message>
        <message>
            <source>These can: {known}. Otherwise open the model's original folder.</source>
            <translation>可以转换的有：{known}。否则请打开该模型的原始文件夹。</translation>
        </message>
        <message>
            <source>{repo} holds GGUF files rather than a transformers model.</source>
            <translation>{repo} 中是 GGUF 文件，而不是 transformers 模型。</translation>
        </message>
        <message>
            <source>Download one of them ({file}, say) and open that file.</source>
            <translation>请下载其中一个（例如 {file}）并打开它。</translation>
        </message>
        <message>
            <source>{repo} isn't a transformers model: it has no config.json.</source>
            <translation>{repo} 不是 transformers 模型：没有 config.json。</translation>
        </message>
        <message>
            <source>Choose another repository.</source>
            <translation>请选择另一个仓库。</translation>
        </message>
        <message>
            <source>{repo} isn't complete: its index lists {file}, which isn't there.</source>
            <translation>{repo} 不完整：它的索引列出了 {file}，但它并不存在。</translation>
        </message>
        <message>
            <source>{repo} has its weights pickled only ({file}); Spokeshave doesn't read pickles, because opening one runs code from it.</source>
            <translation>{repo} 的权重只有 pickle 格式（{file}）；Spokeshave 不读取 pickle，因为打开它会运行其中的代码。</translation>
        </message>
        <message>
            <source>Look for a safetensors copy of the model.</source>
            <translation>请寻找该模型的 safetensors 副本。</translation>
        </message>
        <message>
            <source>{repo} has no weights in safetensors.</source>
            <translation>{repo} 没有 safetensors 格式的权重。</translation>
        </message>
        <message>
            <source>{file} of {repo} isn't valid JSON.</source>
            <translation>{repo} 的 {file} 不是有效的 JSON。</translation>
        </message>
        <message>
            <source>{repo} is being downloaded already, by another window or command.</source>
            <translation>另一个窗口或命令已经在下载 {repo}。</translation>
        </message>
        <message>
            <source>Wait until that's done, then import it again: it'll be quick.</source>
            <translation>请等它完成，然后重新导入：会很快。</translation>
        </message>
        <message>
            <source>Downloading</source>
            <translation>正在下载</translation>
        </message>
        <message>
            <source>The disk has {free} MB free, and {needed} MB of {file} are still to come.</source>
            <translation>磁盘剩余 {free} MB，而 {file} 还有 {needed} MB 未下载。</translation>
        </message>
        <message>
            <source>Free some space and import it again; what has been downloaded is kept.</source>
            <translation>请腾出一些空间后重新导入；已下载的部分会保留。</translation>
        </message>
        <message>
            <source>{repo} can't be fetched, because downloads are switched off (HF_HUB_OFFLINE is set).</source>
            <translation>无法获取 {repo}，因为下载已关闭（设置了 HF_HUB_OFFLINE）。</translation>
        </message>
        <message>
            <source>Unset HF_HUB_OFFLINE, or open a folder instead.</source>
            <translation>请取消设置 HF_HUB_OFFLINE，或改为打开文件夹。</translation>
        </message>
        <message>
            <source>{repo} is gated: its authors give access to those who ask for it.</source>
            <translation>{repo} 需要授权：作者只向提出申请的人开放。</translation>
        </message>
        <message>
            <source>Ask for access at {page}, then log in with 'hf auth login'.</source>
            <translation>请在 {page} 申请访问，然后用 'hf auth login' 登录。</translation>
        </message>
        <message>
            <source>{repo} doesn't have a file that its list names.</source>
            <translation>{repo} 没有其清单中列出的一个文件。</translation>
        </message>
        <message>
            <source>It may have changed just now; try again.</source>
            <translation>它可能刚刚发生了变化；请再试一次。</translation>
        </message>
        <message>
            <source>The Hub refused to send {repo} (status {status}).</source>
            <translation>Hub 拒绝发送 {repo}（状态 {status}）。</translation>
        </message>
        <message>
            <source>Try again later; what has been downloaded is kept.</source>
            <translation>请稍后再试；已下载的部分会保留。</translation>
        </message>
        <message>
            <source>The Hub at {place} can't be reached.</source>
            <translation>无法连接到 {place} 的 Hub。</translation>
        </message>
        <message>
            <source>Check the network connection, or open a folder or a .gguf file instead.</source>
            <translation>请检查网络连接，或改为打开文件夹或 .gguf 文件。</translation>
        </message>
        <message>
            <source>The connection broke off while {repo} was being downloaded.</source>
            <translation>下载 {repo} 时连接中断。</translation>
        </message>
        <message>
            <source>Import it again: it goes on where it stopped.</source>
            <translation>请重新导入：它会从中断处继续。</translation>
        </message>
        <message>
            <source>There is no model {repo} on the Hub, or it's private.</source>
            <translation>Hub 上没有模型 {repo}，或者它是私有的。</translation>
        </message>
        <message>
            <source>Check the id (org/name); for a private model, log in with 'hf auth login'. To open a folder, check its path.</source>
            <translation>请检查标识（组织/名称）；若是私有模型，请用 'hf auth login' 登录。若要打开文件夹，请检查路径。</translation>
        </message>
        <message>
            <source>{source} doesn't exist.</source>
            <translation>{source} 不存在。</translation>
        </message>
        <message>
            <source>Give a model's folder, a .gguf file, or a Hub id such as org/name.</source>
            <translation>请给出模型的文件夹、.gguf 文件，或如 org/name 的 Hub 标识。</translation>
        </message>
        <message>
            <source>{file} is one file of a model; its folder is what can be opened.</source>
            <translation>{file} 是模型的一个文件；可以打开的是它所在的文件夹。</translation>
        </message>
        <message>
            <source>Choose the folder {folder}.</source>
            <translation>请选择文件夹 {folder}。</translation>
        </message>
        <message>
            <source>{file} holds no weights.</source>
            <translation>{file} 中没有权重。</translation>
        </message>
        <message>
            <source>Choose the file with the model itself.</source>
            <translation>请选择包含模型本身的文件。</translation>
        </message>
        <message>
            <source>{file} is one part of a model that was split into {parts} GGUF files.</source>
            <translation>{file} 是被拆成 {parts} 个 GGUF 文件的模型的一部分。</translation>
        </message>
        <message>
            <source>Join them with llama.cpp's gguf-split --merge, and open the result.</source>
            <translation>请用 llama.cpp 的 gguf-split --merge 合并它们，然后打开合并结果。</translation>
        </message>
        <message>
            <source>{folder} is empty.</source>
            <translation>{folder} 是空的。</translation>
        </message>
        <message>
            <source>Choose a folder that holds a model.</source>
            <translation>请选择一个含有模型的文件夹。</translation>
        </message>
        <message>
            <source>{folder} is a folder with GGUF files, not a transformers model.</source>
            <translation>{folder} 是含有 GGUF 文件的文件夹，而不是 transformers 模型。</translation>
        </message>
        <message>
            <source>Choose the file {file} itself.</source>
            <translation>请选择文件 {file} 本身。</translation>
        </message>
        <message>
            <source>{folder} holds no model itself, but its folder {inside} does.</source>
            <translation>{folder} 本身没有模型，但它的文件夹 {inside} 中有。</translation>
        </message>
        <message>
            <source>Choose that folder.</source>
            <translation>请选择那个文件夹。</translation>
        </message>
        <message>
            <source>{folder} isn't a model: it has no config.json.</source>
            <translation>{folder} 不是模型：没有 config.json。</translation>
        </message>
        <message>
            <source>Choose the folder that holds config.json and the .safetensors files.</source>
            <translation>请选择含有 config.json 和 .safetensors 文件的文件夹。</translation>
        </message>
        <message>
            <source>The weights in {folder} are pickled ({file}); Spokeshave doesn't read pickles, because opening one runs code from it.</source>
            <translation>{folder} 中的权重是 pickle 格式（{file}）；Spokeshave 不读取 pickle，因为打开它会运行其中的代码。</translation>
        </message>
        <message>
            <source>Save the model as safetensors where you trust it, or look for a safetensors copy of it.</source>
            <translation>请在你信任它的地方把模型另存为 safetensors，或寻找它的 safetensors 副本。</translation>
        </message>
        <message>
            <source>{folder} has weights only in a format that Spokeshave doesn't open ({file}).</source>
            <translation>{folder} 中的权重只有 Spokeshave 不能打开的格式（{file}）。</translation>
        </message>
        <message>
            <source>{folder} has no model.safetensors; transformers wouldn't find {file} without an index.</source>
            <translation>{folder} 中没有 model.safetensors；没有索引，transformers 找不到 {file}。</translation>
        </message>
        <message>
            <source>Rename it to model.safetensors, or add model.safetensors.index.json.</source>
            <translation>请把它改名为 model.safetensors，或添加 model.safetensors.index.json。</translation>
        </message>
        <message>
            <source>{folder} has a config.json but no weights.</source>
            <translation>{folder} 中有 config.json，但没有权重。</translation>
        </message>
        <message>
            <source>Download the .safetensors files too.</source>
            <translation>请把 .safetensors 文件也下载下来。</translation>
        </message>
        <message>
            <source>The installed transformers doesn't know the model type {type}.</source>
            <translation>已安装的 transformers 不认识模型类型 {type}。</translation>
        </message>
        <message>
            <source>Update transformers, or choose another model.</source>
            <translation>请更新 transformers，或选择另一个模型。</translation>
        </message>
        <message>
            <source>config.json doesn't make a valid {type} model: {reason}.</source>
            <translation>config.json 不能构成有效的 {type} 模型：{reason}。</translation>
        </message>
        <message>
            <source>Download it again, or correct it.</source>
            <translation>请重新下载，或加以更正。</translation>
        </message>
        <message>
            <source>The tokenizer in {folder} can't be read.</source>
            <translation>无法读取 {folder} 中的分词器。</translation>
        </message>
        <message>
            <source>Download its files again, or remove them to open the model without one.</source>
            <translation>请重新下载它的文件，或移除它们以便不带分词器打开模型。</translation>
        </message>
        <message>
            <source>This variant has no layers on a grid that can be shown.</source>
            <translation>这个变体没有可显示其网格的层。</translation>
        </message>
        <message>
            <source>Choose one that was quantized to integers or float8.</source>
            <translation>请选择量化为整数或 float8 的变体。</translation>
        </message>
        <message>
            <source>{layer} isn't a quantized layer of this variant.</source>
            <translation>{layer} 不是这个变体的量化层。</translation>
        </message>
        <message>
            <source>{name} couldn't be loaded: {reason}</source>
            <translation>无法加载 {name}：{reason}</translation>
        </message>
        <message>
            <source>The detail says where it failed.</source>
            <translation>详情说明了失败的位置。</translation>
        </message>
        <message>
            <source>{name} needs code of its own to run, and Spokeshave doesn't run code that comes with a model unless you ask for it.</source>
            <translation>{name} 需要它自己的代码才能运行，而除非你要求，Spokeshave 不运行模型附带的代码。</translation>
        </message>
        <message>
            <source>If you trust its author, open it again with remote code allowed.</source>
            <translation>如果你信任它的作者，请在允许运行附带代码的情况下重新打开。</translation>
        </message>
        <message>
            <source>The tokenizer of {name} can't be read: {reason}</source>
            <translation>无法读取 {name} 的分词器：{reason}</translation>
        </message>
        <message>
            <source>Download its files again.</source>
            <translation>请重新下载它的文件。</translation>
        </message>
        <message>
            <source>The installed transformers has no model class {architecture}.</source>
            <translation>已安装的 transformers 没有模型类 {architecture}。</translation>
        </message>
        <message>
            <source>{name} quantizes its activations in a way that Spokeshave can't compute, so loading it would change its numbers.</source>
            <translation>{name} 量化激活的方式 Spokeshave 无法计算，因此加载它会改变其数值。</translation>
        </message>
        <message>
            <source>Open it as a new model: its weights are then dequantized, and that is said.</source>
            <translation>请把它作为新模型打开：其权重会被反量化，并予以说明。</translation>
        </message>
        <message>
            <source>The scale of the input of {layer} is missing.</source>
            <translation>缺少 {layer} 输入的缩放系数。</translation>
        </message>
        <message>
            <source>Download or make the model again.</source>
            <translation>请重新下载或制作模型。</translation>
        </message>
        <message>
            <source>A {layer} layer can't be stored packed: no format that plain transformers reads has it.</source>
            <translation>{layer} 层无法打包存储：普通 transformers 能读的格式中没有这一种。</translation>
        </message>
        <message>
            <source>Leave these layers out, or choose a model with Linear layers.</source>
            <translation>请略去这些层，或选择使用 Linear 层的模型。</translation>
        </message>
        <message>
            <source>A packed weight in this model is damaged or of an unknown layout.</source>
            <translation>这个模型中有打包权重已损坏，或布局未知。</translation>
        </message>
        <message>
            <source>Download or make it again.</source>
            <translation>请重新下载或重新制作。</translation>
        </message>
        <message>
            <source>Asymmetric grids below 8 bits can't be joined with quantized activations: plain transformers would leave the activations out.</source>
            <translation>低于 8 位的非对称网格不能与量化激活结合：普通的 transformers 会略去激活的量化。</translation>
        </message>
        <message>
            <source>Use a symmetric grid for the weights, or leave the activations alone.</source>
            <translation>请对权重使用对称网格，或不量化激活。</translation>
        </message>
        <message>
            <source>Asymmetric grids below 8 bits can't be mixed with others in one model: plain transformers would read them wrongly.</source>
            <translation>低于 8 位的非对称网格不能与其他网格混在同一个模型中：普通 transformers 会读错。</translation>
        </message>
        <message>
            <source>Use symmetric grids, or one asymmetric grid whose group size divides the width of every layer.</source>
            <translation>请使用对称网格，或使用一种非对称网格，其分组大小能整除每一层的宽度。</translation>
        </message>
        <message>
            <source>A {layer} can't be stored packed: it isn't a plain embedding.</source>
            <translation>{layer} 无法打包存储：它不是普通的嵌入。</translation>
        </message>
        <message>
            <source>Leave the embedding as it is.</source>
            <translation>请让嵌入保持原样。</translation>
        </message>
        <message>
            <source>The output layer is tied to the embedding, so it can't be packed apart from it.</source>
            <translation>输出层与嵌入绑定，因此不能单独打包。</translation>
        </message>
        <message>
            <source>Leave the output layer out.</source>
            <translation>请略去输出层。</translation>
        </message>
        <message>
            <source>{tensor} has values too large for {dtype}, so the model can't be stored in it.</source>
            <translation>{tensor} 的数值对 {dtype} 来说太大，因此模型不能以它存储。</translation>
        </message>
        <message>
            <source>Store it in bfloat16 or float32.</source>
            <translation>请以 bfloat16 或 float32 存储。</translation>
        </message>
        <message>
            <source>The result isn't usable: {tensor} holds values that aren't finite numbers.</source>
            <translation>结果不可用：{tensor} 含有非有限数值。</translation>
        </message>
        <message>
            <source>Try a smaller learning rate or a milder setting.</source>
            <translation>请尝试更小的学习率或更温和的设置。</translation>
        </message>
        <message>
            <source>The disk has {free} MB free, and {needed} MB are needed.</source>
            <translation>磁盘剩余 {free} MB，而需要 {needed} MB。</translation>
        </message>
        <message>
            <source>Free some space on the disk of {place}, or choose a folder on another disk.</source>
            <translation>请在 {place} 所在的磁盘上腾出一些空间，或选择另一磁盘上的文件夹。</translation>
        </message>
        <message>
            <source>Free some space, or choose a workspace on another disk.</source>
            <translation>请腾出一些空间，或选择位于另一块磁盘上的工作区。</translation>
        </message>
        <message>
            <source>{count} weights go by other names in the files than in the model ({first}), so it can't be read block by block.</source>
            <translation>有 {count} 个权重在文件中的名称与模型中的不同（{first}），因此无法逐块读取。</translation>
        </message>
        <message>
            <source>It has to fit into memory: close other programs, or use a machine with more of it.</source>
            <translation>它必须能放进内存：请关闭其他程序，或使用内存更大的机器。</translation>
        </message>
        <message>
            <source>{architecture} can't be cut: {why}.</source>
            <translation>{architecture} 无法削减：{why}。</translation>
        </message>
        <message>
            <source>Choose a method that works on single weights, such as magnitude.</source>
            <translation>请选择作用于单个权重的方法，例如幅值剪枝。</translation>
        </message>
        <message>
            <source>A model needs one block at least.</source>
            <translation>模型至少需要一个块。</translation>
        </message>
        <message>
            <source>Drop fewer.</source>
            <translation>请少去掉一些。</translation>
        </message>
        <message>
            <source>{architecture} can't be cut like that: {why}.</source>
            <translation>{architecture} 无法这样削减：{why}。</translation>
        </message>
        <message>
            <source>Choose another amount, or only zeros instead of a smaller file.</source>
            <translation>请选择其他数量，或只置零而不缩小文件。</translation>
        </message>
        <message>
            <source>{file} is only a Git LFS pointer: the weights themselves haven't been downloaded.</source>
            <translation>{file} 只是 Git LFS 指针：权重本身尚未下载。</translation>
        </message>
        <message>
            <source>Run 'git lfs pull' in that folder, or download the file again.</source>
            <translation>请在该文件夹中运行 'git lfs pull'，或重新下载该文件。</translation>
        </message>
        <message>
            <source>{file} is cut short: at least {missing} bytes are missing at its end.</source>
            <translation>{file} 不完整：末尾至少缺少 {missing} 字节。</translation>
        </message>
        <message>
            <source>Download or copy it again.</source>
            <translation>请重新下载或复制。</translation>
        </message>
        <message>
            <source>{file} is damaged: {why}.</source>
            <translation>{file} 已损坏：{why}。</translation>
        </message>
        <message>
            <source>{count} of the {total} weight files are missing, {first} among them.</source>
            <translation>{total} 个权重文件中缺少 {count} 个，其中包括 {first}。</translation>
        </message>
        <message>
            <source>Download the rest of the model.</source>
            <translation>请下载该模型的其余部分。</translation>
        </message>
        <message>
            <source>The index lists {count} tensors that no file holds, {first} among them.</source>
            <translation>索引列出了 {count} 个没有任何文件包含的张量，其中包括 {first}。</translation>
        </message>
        <message>
            <source>The saved model doesn't reload in plain transformers: {reason}</source>
            <translation>保存的模型无法在普通 transformers 中重新加载：{reason}</translation>
        </message>
        <message>
            <source>The saved model reloads, but not all of its weights fit.</source>
            <translation>保存的模型可以重新加载，但并非所有权重都对得上。</translation>
        </message>
        <message>
            <source>Nothing was kept. The detail names them; please report it.</source>
            <translation>没有保留任何内容。详情列出了它们；请报告。</translation>
        </message>
        <message>
            <source>The process that reloads the saved model ended early (exit code {code}).</source>
            <translation>重新加载已保存模型的进程提前结束（退出码 {code}）。</translation>
        </message>
        <message>
            <source>There may not be enough memory to hold the model twice; close other programs and try again.</source>
            <translation>内存可能不足以同时容纳两份模型；请关闭其他程序后再试。</translation>
        </message>
        <message>
            <source>The saved model gives outputs of shape {theirs}, the one in memory {mine}.</source>
            <translation>保存的模型输出形状为 {theirs}，内存中的为 {mine}。</translation>
        </message>
        <message>
            <source>The saved model gives other numbers than the one in memory (largest difference {difference:.3g}, outputs up to {scale:.3g}).</source>
            <translation>保存的模型给出的数值与内存中的不同（最大差异 {difference:.3g}，输出最大 {scale:.3g}）。</translation>
        </message>
        <message>
            <source>{method} has no setting called {knob}.{suggestion}</source>
            <translation>{method} 没有名为 {knob} 的设置。{suggestion}</translation>
        </message>
        <message>
            <source>Its settings are: {known}.</source>
            <translation>它的设置有：{known}。</translation>
        </message>
        <message>
            <source>{method}: {knob} = {value} isn't possible: {reason}.</source>
            <translation>{method}：{knob} = {value} 不可行：{reason}。</translation>
        </message>
        <message>
            <source>Change {knob}.</source>
            <translation>请更改 {knob}。</translation>
        </message>
        <message>
            <source>{pair} isn't a setting.</source>
            <translation>{pair} 不是设置。</translation>
        </message>
        <message>
            <source>Write knob=value, for example --set bits=4.</source>
            <translation>请写成 knob=value，例如 --set bits=4。</translation>
        </message>
        <message>
            <source>This onnxruntime can't compute by {provider}: it has {available}.</source>
            <translation>此 onnxruntime 不能用 {provider} 计算：它具备 {available}。</translation>
        </message>
        <message>
            <source>Choose one of those, or install the onnxruntime that has it.</source>
            <translation>请从中选择一个，或安装具备它的 onnxruntime。</translation>
        </message>
        <message>
            <source>{where} isn't YAML: it breaks at line {line}.</source>
            <translation>{where} 不是 YAML：第 {line} 行出错。</translation>
        </message>
        <message>
            <source>Mend that line, or copy the recipe anew.</source>
            <translation>请修正该行，或重新复制配方。</translation>
        </message>
        <message>
            <source>{where} is empty or isn't a recipe.</source>
            <translation>{where} 是空的，或者不是配方。</translation>
        </message>
        <message>
            <source>Copy one from a variant's inspector.</source>
            <translation>请从变体的检视面板复制一份。</translation>
        </message>
        <message>
            <source>{where} is of format {version}; this Spokeshave reads format {known}.</source>
            <translation>{where} 的格式是 {version}；这个 Spokeshave 读取格式 {known}。</translation>
        </message>
        <message>
            <source>Its first line should be 'spokeshave: 1'.</source>
            <translation>它的第一行应为 'spokeshave: 1'。</translation>
        </message>
        <message>
            <source>{where} has a mistake at {place}: {reason}.</source>
            <translation>{where} 在 {place} 处有错误：{reason}。</translation>
        </message>
        <message>
            <source>Compare it with a recipe copied from a variant.</source>
            <translation>请与从变体复制的配方对照。</translation>
        </message>
        <message>
            <source>{path} can't be read as text.</source>
            <translation>无法将 {path} 作为文本读取。</translation>
        </message>
        <message>
            <source>Choose a recipe, a .yaml file.</source>
            <translation>请选择配方，即 .yaml 文件。</translation>
        </message>
        <message>
            <source>{path} can't be read: {why}.</source>
            <translation>无法读取 {path}：{why}。</translation>
        </message>
        <message>
            <source>onnxruntime {runtime} is too old for the operators of this graph, which {needed} brought.</source>
            <translation>onnxruntime {runtime} 太旧，不支持此图的算子，这些算子自 {needed} 起才有。</translation>
        </message>
        <message>
            <source>Name a later onnxruntime, or choose the portable profile and exact products.</source>
            <translation>请指定更新的 onnxruntime，或选择通用配置和精确乘积。</translation>
        </message>
        <message>
            <source>Name a later onnxruntime: no graph is written for one as old as this.</source>
            <translation>请指定更新的 onnxruntime：不会为这么旧的版本写出计算图。</translation>
        </message>
        <message>
            <source>{name} is a variant's name, and no workspace was given.</source>
            <translation>{name} 是变体的名称，但没有给出工作区。</translation>
        </message>
        <message>
            <source>Name its workspace.</source>
            <translation>请指明它的工作区。</translation>
        </message>
        <message>
            <source>The export's folder {folder} isn't there any more.</source>
            <translation>导出的文件夹 {folder} 已不在那里。</translation>
        </message>
        <message>
            <source>Choose another, or export again.</source>
            <translation>请选择另一个，或重新导出。</translation>
        </message>
        <message>
            <source>{name} is an ONNX export: what it computes in was chosen when it was made.</source>
            <translation>{name} 是 ONNX 导出：它用什么计算在制作时已定。</translation>
        </message>
        <message>
            <source>Leave the data type as it is, or export the variant in that precision.</source>
            <translation>请保持数据类型不变，或以那种精度导出变体。</translation>
        </message>
        <message>
            <source>{name} knows {levels} levels of noise, so it can't draw in {steps} steps.</source>
            <translation>{name} 只有 {levels} 级噪声，因此不能用 {steps} 步绘制。</translation>
        </message>
        <message>
            <source>Choose fewer steps.</source>
            <translation>请选择更少的步数。</translation>
        </message>
        <message>
            <source>This workspace doesn't know which of its variants {folder} was exported from.</source>
            <translation>此工作区不知道 {folder} 是由它的哪个变体导出的。</translation>
        </message>
        <message>
            <source>Say which one it was.</source>
            <translation>请说明是哪一个。</translation>
        </message>
        <message>
            <source>{name} is quantized, so what its heads are worth can't be judged.</source>
            <translation>{name} 已经量化，因此无法评判其注意力头的重要性。</translation>
        </message>
        <message>
            <source>There is no head {unit} in {name}.</source>
            <translation>{name} 中没有头 {unit}。</translation>
        </message>
        <message>
            <source>Open the map again.</source>
            <translation>请重新打开图。</translation>
        </message>
        <message>
            <source>Which images {name} learnt to draw isn't known.</source>
            <translation>不知道 {name} 学的是哪些图像。</translation>
        </message>
        <message>
            <source>Choose them: an .npz file or a folder of pictures.</source>
            <translation>请选择：一个 .npz 文件或图片文件夹。</translation>
        </message>
        <message>
            <source>The images in {path} aren't those that the recipe was made with.</source>
            <translation>{path} 中的图像不是制作该配方时所用的。</translation>
        </message>
        <message>
            <source>Its folder is what diffusers loads; Fewer steps, under Distil, makes it faster.</source>
            <translation>它的文件夹可由 diffusers 直接加载；“蒸馏”下的“更少步数”能让它更快。</translation>
        </message>
        <message>
            <source>{name} draws images, and sensitivity is measured by the probabilities of tokens.</source>
            <translation>{name} 画的是图像，而敏感度按词元概率测量。</translation>
        </message>
        <message>
            <source>{name} draws images, and heads are judged by the loss on text.</source>
            <translation>{name} 画的是图像，而注意力头按文本上的损失评判。</translation>
        </message>
        <message>
            <source>{name} draws images, and of such models only ONNX files are written.</source>
            <translation>{name} 绘制图像，这类模型只能写出 ONNX 文件。</translation>
        </message>
        <message>
            <source>Measuring size</source>
            <translation>正在测量大小</translation>
        </message>
        <message>
            <source>There is no step to apply.</source>
            <translation>没有要应用的步骤。</translation>
        </message>
        <message>
            <source>Choose a method.</source>
            <translation>请选择一种方法。</translation>
        </message>
        <message>
            <source>{method} doesn't apply to {name}: it's of the kind {task}.</source>
            <translation>{method} 不适用于 {name}：它属于 {task} 类型。</translation>
        </message>
        <message>
            <source>Choose another method.</source>
            <translation>请选择另一种方法。</translation>
        </message>
        <message>
            <source>The text {path} isn't the one that the recipe was made with.</source>
            <translation>文本 {path} 不是制作配方时所用的那份。</translation>
        </message>
        <message>
            <source>Restore that text, or remove its sha256 from the recipe to use this one.</source>
            <translation>请恢复那份文本，或从配方中去掉它的 sha256 以使用现在这份。</translation>
        </message>
        <message>
            <source>There is no tokenizer, so text can't be scored.</source>
            <translation>没有分词器，因此无法对文本评分。</translation>
        </message>
        <message>
            <source>Put the tokenizer's files beside the model.</source>
            <translation>请把分词器的文件放在模型旁边。</translation>
        </message>
        <message>
            <source>{name} has other tokens than {reference}, so their predictions can't be compared.</source>
            <translation>{name} 与 {reference} 的词元不同，因此无法比较它们的预测。</translation>
        </message>
        <message>
            <source>Choose a reference with the same tokenizer, such as the model that it was made from.</source>
            <translation>请选择使用相同分词器的参照，例如生成它的原模型。</translation>
        </message>
        <message>
            <source>{reference} doesn't classify, so {name} can't be compared with it.</source>
            <translation>{reference} 不做分类，因此 {name} 无法与它比较。</translation>
        </message>
        <message>
            <source>Choose a classifier as the reference.</source>
            <translation>请选择分类器作为参照。</translation>
        </message>
        <message>
            <source>{name} draws images: it's held against images, not against another model.</source>
            <translation>{name} 画的是图像：它与图像比较，而不是与另一个模型比较。</translation>
        </message>
        <message>
            <source>Leave the reference out.</source>
            <translation>请去掉参照。</translation>
        </message>
        <message>
            <source>{name} is quantized already, so its layers can't be tried at other widths.</source>
            <translation>{name} 已经量化，因此无法以其他位宽尝试它的层。</translation>
        </message>
        <message>
            <source>{name} can't be trained here{why}.</source>
            <translation>{name} 不能在这里训练{why}。</translation>
        </message>
        <message>
            <source>Choose a variant that generates text and isn't quantized.</source>
            <translation>请选择一个生成文本且未量化的变体。</translation>
        </message>
        <message>
            <source>No draft was named.</source>
            <translation>没有指定草稿模型。</translation>
        </message>
        <message>
            <source>Choose a draft, n-gram lookup, or none.</source>
            <translation>请选择草稿模型、N 元语法查找，或不用草稿。</translation>
        </message>
        <message>
            <source>{folder} is not a Spokeshave workspace.</source>
            <translation>{folder} 不是 Spokeshave 工作区。</translation>
        </message>
        <message>
            <source>Import a model into it first, or choose another folder.</source>
            <translation>请先把一个模型导入其中，或另选文件夹。</translation>
        </message>
        <message>
            <source>{folder} holds other files, so it can't become a workspace.</source>
            <translation>{folder} 中有其他文件，因此不能成为工作区。</translation>
        </message>
        <message>
            <source>Choose an empty folder or a new name.</source>
            <translation>请选择空文件夹或新名称。</translation>
        </message>
        <message>
            <source>The workspace {folder} can't be made: {why}.</source>
            <translation>无法建立工作区 {folder}：{why}。</translation>
        </message>
        <message>
            <source>Choose another folder.</source>
            <translation>请另选文件夹。</translation>
        </message>
        <message>
            <source>{path} is damaged.</source>
            <translation>{path} 已损坏。</translation>
        </message>
        <message>
            <source>Restore it, or import the models into a new workspace.</source>
            <translation>请恢复它，或把模型导入新的工作区。</translation>
        </message>
        <message>
            <source>This workspace was made by a later Spokeshave (format {theirs}, this one knows {ours}).</source>
            <translation>这个工作区由更新版本的 Spokeshave 建立（格式 {theirs}，本版本只认识 {ours}）。</translation>
        </message>
        <message>
            <source>{variant} isn't the id of a variant.</source>
            <translation>{variant} 不是变体的标识。</translation>
        </message>
        <message>
            <source>Look at the list of variants.</source>
            <translation>请查看变体列表。</translation>
        </message>
        <message>
            <source>{count} variants are called {name}: {ids}.</source>
            <translation>有 {count} 个变体叫 {name}：{ids}。</translation>
        </message>
        <message>
            <source>Say by its id which one is meant.</source>
            <translation>请用 id 说明指的是哪一个。</translation>
        </message>
        <message>
            <source>There is no variant {variant} in this workspace.{suggestion}</source>
            <translation>这个工作区中没有变体 {variant}。{suggestion}</translation>
        </message>
        <message>
            <source>The record of variant {variant} is damaged.</source>
            <translation>变体 {variant} 的记录已损坏。</translation>
        </message>
        <message>
            <source>Its model files are still in {folder}; import that folder again.</source>
            <translation>它的模型文件仍在 {folder} 中；请重新导入该文件夹。</translation>
        </message>
        <message>
            <source>{name} can't be deleted while {others} came from it.</source>
            <translation>{others} 由 {name} 而来，因此不能删除它。</translation>
        </message>
        <message>
            <source>Delete those first.</source>
            <translation>请先删除那些。</translation>
        </message>
        <message>
            <source>{path} is missing.</source>
            <translation>缺少 {path}。</translation>
        </message>
        <message>
            <source>Check the folder.</source>
            <translation>请检查文件夹。</translation>
        </message>
        <message>
            <source>{path} isn't valid JSON.</source>
            <translation>{path} 不是有效的 JSON。</translation>
        </message>
        <message>
            <source>{path} doesn't hold a JSON object.</source>
            <translation>{path} 中不是 JSON 对象。</translation>
        </message>
        <message>
            <source>The images of {w} x {h} pixels were resized to the {width} x {height} that the model draws.</source>
            <translation>{w} x {h} 像素的图像已缩放到模型所画的 {width} x {height}。</translation>
        </message>
        <message>
            <source>The images were made grey, as the model draws.</source>
            <translation>图像已转为灰度，与模型所画的一致。</translation>
        </message>
        <message>
            <source>The grey images were taken as coloured ones.</source>
            <translation>灰度图像被当作彩色图像。</translation>
        </message>
        <message>
            <source>It can't pay: even if every token were kept, drafting and checking would take longer than writing plainly.</source>
            <translation>不可能划算：即使每个词元都保留，打草稿加检验也比普通写出更慢。</translation>
        </message>
        <message>
            <source>Its attention isn't one that fused operators compute, so the portable profile was written.</source>
            <translation>其注意力不是融合算子能计算的，因此写出了通用配置。</translation>
        </message>
        <message>
            <source>The width of its heads isn't a multiple of 8, which fused attention needs, so the portable profile was written.</source>
            <translation>其头宽不是 8 的倍数，而融合注意力需要如此，因此写出了通用配置。</translation>
        </message>
        <message>
            <source>{found} of {layers} attention layers could be fused, so the portable profile was written.</source>
            <translation>{layers} 个注意力层中有 {found} 个能融合，因此写出了通用配置。</translation>
        </message>
        <message>
            <source>This architecture computes its attention itself, so the portable profile was written.</source>
            <translation>此架构自行计算注意力，因此写出了通用配置。</translation>
        </message>
        <message>
            <source>The tokenizer that plain transformers builds from the file splits some of the held-out text differently.</source>
            <translation>普通 transformers 由该文件构建的分词器对部分留出文本的切分不同。</translation>
        </message>
        <message>
            <source>Plain transformers doesn't take {n} from a GGUF file; for the check it was told.</source>
            <translation>普通 transformers 不从 GGUF 文件读取 {n}；检查时已另行告知。</translation>
        </message>
        <message>
            <source>This model attends to a window of its last tokens; llama.cpp attends to all of them, so longer texts differ.</source>
            <translation>这个模型只关注最近词元的窗口；llama.cpp 关注全部词元，因此较长的文本会有差异。</translation>
        </message>
        <message>
            <source>{kept} quantized layers keep their own grid; nothing in them was quantized again.</source>
            <translation>{kept} 个量化层保留各自的量化网格；其中没有重新量化。</translation>
        </message>
        <message>
            <source>The scales of {rounding} layers were rounded to half precision, which is all that GGUF's blocks have.</source>
            <translation>{rounding} 个层的缩放系数被舍入为半精度，GGUF 的块只有这么高的精度。</translation>
        </message>
        <message>
            <source>The grid of {again} quantized layers doesn't fit {label}; they were dequantized and quantized again.</source>
            <translation>{again} 个量化层的网格不适合 {label}；它们被反量化后重新量化。</translation>
        </message>
        <message>
            <source>{widened} quantized layers were widened to {label}: exact, but not small.</source>
            <translation>{widened} 个量化层被扩展为 {label}：精确，但不小。</translation>
        </message>
        <message>
            <source>This variant rounds what its layers take in; a GGUF file holds weights only, and llama.cpp rounds in its own way.</source>
            <translation>这个变体会舍入各层的输入；GGUF 文件只含权重，而 llama.cpp 以自己的方式舍入。</translation>
        </message>
        <message>
            <source>Rows of {rounded} layers aren't whole blocks of {label}; they take the next wider type that fits.</source>
            <translation>{rounded} 个层的行不是 {label} 的整数块；它们采用下一种适合的更宽类型。</translation>
        </message>
        <message>
            <source>Activations rounded to int8 changed too much, so quantized layers multiply float32 ones.</source>
            <translation>激活舍入为 int8 后变化过大，因此量化层与 float32 激活相乘。</translation>
        </message>
        <message>
            <source>The fused graph failed its check, so the portable profile was written.</source>
            <translation>融合图未通过检查，因此写出了通用配置。</translation>
        </message>
        <message>
            <source>Activations are rounded before quantized layers only, and this variant has none: its products are exact.</source>
            <translation>激活值只在量化层之前舍入，而此变体没有量化层：其乘积是精确的。</translation>
        </message>
        <message>
            <source>Layers of this variant round what they read, and float32's own error decides where a number lies between two steps: noise of a millionth, on what torch reads, allows a divergence of {n}.</source>
            <translation>此变体的层会对输入做舍入，数值恰在两档之间时由 float32 自身的误差决定：按 torch 对百万分之一输入噪声的反应，允许的散度为 {n}。</translation>
        </message>
        <message>
            <source>Its sliding window of {window} tokens is longer than the check's text, so what lies past it wasn't compared.</source>
            <translation>它的滑动窗口有 {window} 个词元，长于校验用的文本，因此窗口之外的部分没有比较。</translation>
        </message>
        <message>
            <source>Accuracy is measured of classifiers, and this is none: the examples weren't read.</source>
            <translation>准确率只对分类器测量，而这不是分类器：没有读取样例。</translation>
        </message>
        <message>
            <source>{dense} products that narrow what they read stay float32: one fixed range is too coarse for it.</source>
            <translation>{dense} 个使输入变窄的乘积保持 float32：一个固定范围对它们太粗。</translation>
        </message>
        <message>
            <source>This onnxruntime's attention doesn't write keys and values in place in this model, so they're copied at each step.</source>
            <translation>在此模型中，这个 onnxruntime 的注意力不能就地写入键和值，因此每一步都会复制它们。</translation>
        </message>
        <message>
            <source>The fast profile is for models without an encoder; the portable one was written.</source>
            <translation>快速配置用于没有编码器的模型；写出了通用配置。</translation>
        </message>
        <message>
            <source>Transformers.js wants other inputs of a model with an encoder, so its layout wasn't written.</source>
            <translation>Transformers.js 对带编码器的模型要求别的输入，因此没有写出它的布局。</translation>
        </message>
        <message>
            <source>The window and the decoding lab don't run models with an encoder and a decoder; example.py beside the graphs does.</source>
            <translation>窗口和解码实验室不运行编码器-解码器模型；计算图旁的 example.py 可以。</translation>
        </message>
        <message>
            <source>The fast profile is for models that generate text; the portable one was written.</source>
            <translation>快速配置用于生成文本的模型；已写出通用配置。</translation>
        </message>
        <message>
            <source>Transformers.js draws no images, so its layout wasn't written.</source>
            <translation>Transformers.js 不绘制图像，因此没有写出它的布局。</translation>
        </message>
        <message>
            <source>Rounded activations are judged by the probabilities of tokens, which this model doesn't give; they stay float32.</source>
            <translation>舍入的激活按词元概率评判，而此模型不给出概率；因此保持 float32。</translation>
        </message>
        <message>
            <source>Rounded activations would make none of the quantized layers faster, so they're left as they are.</source>
            <translation>对激活值舍入不会让任何量化层变快，因此保持原样。</translation>
        </message>
        <message>
            <source>This architecture computes its attention itself; it was exported as it is, which runs slower.</source>
            <translation>这种架构自行计算注意力；已按原样导出，运行较慢。</translation>
        </message>
        <message>
            <source>Right on {n} of {n2} held-out examples, where torch in float32 is right on {n3}.</source>
            <translation>在 {n2} 个留出样例中答对 {n} 个，torch 用 float32 答对 {n3} 个。</translation>
        </message>
        <message>
            <source>Layer {n} has {n2} key-value heads, the config says {said}: transformers and the builder of onnxruntime-genai can't open this, onnxruntime can.</source>
            <translation>第 {n} 层有 {n2} 个键值头，而配置说是 {said}：transformers 和 onnxruntime-genai 的构建器打不开它，onnxruntime 可以。</translation>
        </message>
        <message>
            <source>{n} quantized layers keep their own grid; nothing was quantized again.</source>
            <translation>{n} 个量化层保留各自的量化网格；没有重新量化。</translation>
        </message>
        <message>
            <source>{n} of them are stored as int8 and widened when the file is loaded: small on disk, float32 in memory.</source>
            <translation>其中 {n} 个以 int8 存储，加载文件时展开：磁盘占用小，内存中为 float32。</translation>
        </message>
        <message>
            <source>{rounds} of them multiply activations rounded to int8: faster, and judged by the probabilities they give.</source>
            <translation>其中 {rounds} 个用舍入到 int8 的激活值相乘：更快，以它们给出的概率来评判。</translation>
        </message>
        <message>
            <source>Rounded products differ a little by how many tokens are read at once, so near ties may fall otherwise in a prompt read in pieces or after a draft.</source>
            <translation>舍入乘积会因一次读入的词元数量不同而略有差异，因此分段读入提示或在草稿之后，接近平局的选择可能不同。</translation>
        </message>
        <message>
            <source>The grid's values are exact here; plain transformers rounds them to the stored dtype as it loads this variant.</source>
            <translation>网格的数值在这里是精确的；普通 transformers 加载这个变体时会把它们舍入到存储精度。</translation>
        </message>
        <message>
            <source>Weights are stored as float32: the export is {n} times as large as the model's own files.</source>
            <translation>权重以 float32 存储：导出结果是模型自身文件的 {n} 倍。</translation>
        </message>
        <message>
            <source>the most likely token</source>
            <translation>最可能的词元</translation>
        </message>
        <message>
            <source>{near} near ties fell the other way</source>
            <translation>{near} 个近乎并列的词元落到了另一边</translation>
        </message>
        <message>
            <source>the most likely class</source>
            <translation>最可能的类别</translation>
        </message>
        <message>
            <source>{ties} exact ties fell the other way</source>
            <translation>{ties} 处完全并列的选择落在另一边</translation>
        </message>
        <message>
            <source>the whole text at once</source>
            <translation>整段文本一次读入</translation>
        </message>
        <message>
            <source>chunks and single steps with the cache</source>
            <translation>借助缓存分块和单步读入</translation>
        </message>
        <message>
            <source>{BEYOND} tokens past the sliding window</source>
            <translation>滑动窗口之后的 {BEYOND} 个词元</translation>
        </message>
        <message>
            <source>texts of other lengths</source>
            <translation>其他长度的文本</translation>
        </message>
        <message>
            <source>a batch of {n}</source>
            <translation>{n} 行的批次</translation>
        </message>
        <message>
            <source>a batch of {n} padded at the {side}</source>
            <translation>{n} 行的批次，在{side}侧填充</translation>
        </message>
        <message>
            <source>greedy tokens</source>
            <translation>贪心词元</translation>
        </message>
        <message>
            <source>from token {first} on, where the original's two best differ by {n}</source>
            <translation>从第 {first} 个词元起，原始模型的前两名在那里相差 {n}</translation>
        </message>
        <message>
            <source>the vectors of {n} texts</source>
            <translation>{n} 段文本的向量</translation>
        </message>
        <message>
            <source>{n} texts</source>
            <translation>{n} 段文本</translation>
        </message>
        <message>
            <source>the whole text</source>
            <translation>整段文本</translation>
        </message>
        <message>
            <source>a padded batch of {n}</source>
            <translation>{n} 行的带填充批次</translation>
        </message>
        <message>
            <source>a padded batch of {n}, in chunks and single steps with the cache</source>
            <translation>{n} 段的填充批次，带缓存分块和逐步进行</translation>
        </message>
        <message>
            <source>a batch of {n} at the noise of {n2}</source>
            <translation>{n} 个一批，噪声为 {n2}</translation>
        </message>
        <message>
            <source>{n} images drawn in {steps} steps</source>
            <translation>用 {steps} 步绘制的 {n} 幅图像</translation>
        </message>
        <message>
            <source>Some of its files are missing or cut short.</source>
            <translation>它的部分文件缺失或被截断。</translation>
        </message>
        <message>
            <source>Its folder isn't there any more.</source>
            <translation>它的文件夹已不在那里。</translation>
        </message>
        <message>
            <source>Another export lies in its folder by now.</source>
            <translation>它的文件夹里现在是另一个导出。</translation>
        </message>
        <message>
            <source>Its folder holds something else by now.</source>
            <translation>它的文件夹里现在是别的东西。</translation>
        </message>
        <message>
            <source>{title} works on {n}; this is {n2}.</source>
            <translation>{title} 适用于 {n}；这是 {n2}。</translation>
        </message>
        <message>
            <source>Calibrated on windows of {context} tokens instead of {context2}, which is more than the model holds.</source>
            <translation>校准用的窗口为 {context} 个词元而不是 {context2}，因为后者超出模型所能容纳的长度。</translation>
        </message>
        <message>
            <source>Calibrated on {count} windows instead of {windows}: {name} holds no more.</source>
            <translation>用 {count} 个窗口校准而不是 {windows} 个：{name} 没有更多。</translation>
        </message>
        <message>
            <source>The size is the student's own.</source>
            <translation>大小即为学生自身的大小。</translation>
        </message>
        <message>
            <source>The student has about {n} million parameters, the teacher {n2} million</source>
            <translation>学生约有 {n} 百万参数，教师 {n2} 百万</translation>
        </message>
        <message>
            <source>While it trains, the teacher's answers take up to {n} MB on disk; on a short text, less</source>
            <translation>训练期间，教师的回答在磁盘上最多占 {n} MB；文本较短时更少</translation>
        </message>
        <message>
            <source>Student: began with the weights of {name}; the teacher is the parent, {name2}.</source>
            <translation>学生：从 {name} 的权重开始；教师是父变体 {name2}。</translation>
        </message>
        <message>
            <source>Its tokens aren't the teacher's: it learnt the text that the teacher wrote, and no probabilities.</source>
            <translation>其词元与教师不同：它学的是教师写的文本，而不是概率。</translation>
        </message>
        <message>
            <source>Low-rank additions of rank {rank} to the linear layers, folded into them.</source>
            <translation>给线性层加上秩为 {rank} 的低秩附加项，并已并入其中。</translation>
        </message>
        <message>
            <source>{held} zeros of the pruning stayed zero.</source>
            <translation>剪枝所得的 {held} 个零保持为零。</translation>
        </message>
        <message>
            <source>It chooses the teacher's {what} {n} % of the time ({n2} % before).</source>
            <translation>它有 {n} % 的时候选中教师的 {what}（之前为 {n2} %）。</translation>
        </message>
        <message>
            <source>The teacher was asked once for each of {count} {n}, which were learnt {n2} times; its answers took {n3} MB of disk while it trained.</source>
            <translation>对 {count} 个{n}各询问教师一次，它们被学习了 {n2} 遍；训练期间其回答占了 {n3} MB 磁盘。</translation>
        </message>
        <message>
            <source>windows of text</source>
            <translation>文本窗口</translation>
        </message>
        <message>
            <source>None came twice, so keeping its answers saved no time.</source>
            <translation>没有一个出现两次，因此保存其回答没有节省时间。</translation>
        </message>
        <message>
            <source>Of its tokens the {top_k} likeliest were told apart at each position; all others counted as one.</source>
            <translation>在每个位置区分其最可能的 {top_k} 个词元；其余合为一个。</translation>
        </message>
        <message>
            <source>Student: fresh, from random weights: {layers} layer{n}, width {width}, {heads} attention head{n2}, {n3} million parameters.</source>
            <translation>学生：全新，由随机权重开始：{layers} 层{n}，宽 {width}，{heads} 个注意力头{n2}，{n3} 百万参数。</translation>
        </message>
        <message>
            <source>Student: {n} of the teacher's {total} layers ({n2}).</source>
            <translation>学生：教师 {total} 层中的 {n} 层（{n2}）。</translation>
        </message>
        <message>
            <source>{layers} of the {layers2} layers at most, fewer where that pays more</source>
            <translation>最多 {layers2} 层中的 {layers} 层，更少更划算时则更少</translation>
        </message>
        <message>
            <source>Draft: {layers} of the target's {n} layers.</source>
            <translation>草稿：目标 {n} 层中的 {layers} 层。</translation>
        </message>
        <message>
            <source>It says {n} of the {columns} tokens, {share} % of what the target wrote and the draft didn't learn. As a model of its own it has all of them.</source>
            <translation>它说 {columns} 个词元中的 {n} 个，占目标模型所写而草稿模型未学部分的 {share} %。作为独立的模型，它拥有全部词元。</translation>
        </message>
        <message>
            <source>Acceptance alpha on what the target wrote and the draft didn't learn: {after} ({before} before training).</source>
            <translation>在目标写出而草稿没学过的文本上的接受率 α：{after}（训练前 {before}）。</translation>
        </message>
        <message>
            <source>A drafted token costs {share} of the target's; predicted speed-up {speed} at {gamma} drafted tokens.</source>
            <translation>一个起草词元的开销是目标的 {share}；起草 {gamma} 个词元时预计加速 {speed}。</translation>
        </message>
        <message>
            <source>Measured on {RACED} short texts, sampled, in turns with the target alone: {measured} times as fast.</source>
            <translation>在 {RACED} 段采样的短文本上，与目标模型单独写轮流测量：快到 {measured} 倍。</translation>
        </message>
        <message>
            <source>It isn't predicted to pay here: give it more time, or use the packed copy.</source>
            <translation>预计在此不划算：请给它更多时间，或使用打包副本。</translation>
        </message>
        <message>
            <source>the best of them ({best_step}) was kept</source>
            <translation>保留了其中最好的一步（{best_step}）</translation>
        </message>
        <message>
            <source>never better than the cut: nothing was changed</source>
            <translation>从未优于削减时：没有改变任何东西</translation>
        </message>
        <message>
            <source>{steps} steps{n}; {n2}.</source>
            <translation>{steps} 步{n}；{n2}。</translation>
        </message>
        <message>
            <source>, finished early as asked</source>
            <translation>（按要求提前结束）</translation>
        </message>
        <message>
            <source>{to} steps aren't fewer than {start}.</source>
            <translation>{to} 步并不比 {start} 步少。</translation>
        </message>
        <message>
            <source>The same size; drawing takes {to} of {start} steps, so {n} times less time.</source>
            <translation>大小相同；绘图从 {start} 步减到 {to} 步，时间为原来的 {n} 分之一。</translation>
        </message>
        <message>
            <source>{said}: loss on images kept aside {before} before, {after} at the best update ({best_step}).</source>
            <translation>{said}：留出图像上的损失之前为 {before}，最佳更新（{best_step}）时为 {after}。</translation>
        </message>
        <message>
            <source>Finished early as asked: it draws in {steps} steps, not in {to}.</source>
            <translation>按要求提前结束：它用 {steps} 步绘图，而不是 {to} 步。</translation>
        </message>
        <message>
            <source>{steps} steps don't divide {total} levels of noise, so plain diffusers draws a little otherwise.</source>
            <translation>{steps} 步不能整除 {total} 级噪声，因此原版 diffusers 画出的略有不同。</translation>
        </message>
        <message>
            <source>Its weights don't lie on the grid of {bits} bits any more that its teacher's were rounded to.</source>
            <translation>它的权重不再位于其教师所舍入到的 {bits} 位网格上。</translation>
        </message>
        <message>
            <source>diffusers' pipeline asks for no class: its UNet and scheduler have to be called by themselves.</source>
            <translation>diffusers 的管线不接受类别：需要直接调用其 UNet 和调度器。</translation>
        </message>
        <message>
            <source>All attention heads stay: {why}.</source>
            <translation>所有注意力头都保留：{why}。</translation>
        </message>
        <message>
            <source>There were no labels: what the model itself answers on the text stood for them.</source>
            <translation>没有标签：以模型自身在文本上的回答代替。</translation>
        </message>
        <message>
            <source>MLP width {width} becomes {left}</source>
            <translation>MLP 宽度由 {width} 变为 {left}</translation>
        </message>
        <message>
            <source>MLP width {width} -&gt; {left} in each of {layers} blocks ({n} % of its channels); {n2} % of all parameters are gone.</source>
            <translation>{layers} 个块各自的 MLP 宽度 {width} -&gt; {left}（其通道的 {n} %）；去掉了全部参数的 {n2} %。</translation>
        </message>
        <message>
            <source>0 % smaller on disk: the heads' weights become zeros</source>
            <translation>磁盘上小了 0 %：这些头的权重变为零</translation>
        </message>
        <message>
            <source>{gone} of {units} {what} of each layer go ({n} %)</source>
            <translation>每层去掉 {units} 个{what}中的 {gone} 个（{n} %）</translation>
        </message>
        <message>
            <source>Cut: {said}, {n} in each layer; {n2} % of all parameters are gone.</source>
            <translation>已削去：{said}，每层 {n} 个；去掉了全部参数的 {n2} %。</translation>
        </message>
        <message>
            <source>Saved as {__name__}, which computes the same: {family} would refuse {num_attention_heads} heads.</source>
            <translation>保存为 {__name__}，其计算结果相同：{family} 会拒绝 {num_attention_heads} 个头。</translation>
        </message>
        <message>
            <source>0 % smaller on disk: {said} were zeroed ({zeros} weights, {n} % of all), since {n2}.</source>
            <translation>磁盘上小 0 %：{said} 已置零（{zeros} 个权重，占全部的 {n} %），原因：{n2}。</translation>
        </message>
        <message>
            <source>a layer without any head can not be written down</source>
            <translation>没有任何头的层无法写出</translation>
        </message>
        <message>
            <source>The nearest cut that makes the file smaller: uniform, {gone} of {units} {n} of each layer (share {share}).</source>
            <translation>最接近的、能缩小文件的削减：均匀地从每层的 {units} 个 {n} 中去掉 {gone} 个（份额 {share}）。</translation>
        </message>
        <message>
            <source>Without the time that choosing takes.</source>
            <translation>不含选取所需的时间。</translation>
        </message>
        <message>
            <source>0 % smaller on disk, {n} % zeros</source>
            <translation>磁盘上小 0 %，{n} % 为零</translation>
        </message>
        <message>
            <source>On what's kept aside, after training each time: {n}.</source>
            <translation>预留部分上的结果，每次训练之后：{n}。</translation>
        </message>
        <message>
            <source>Blocks lose between {n} % and {n2} % of their weights: those with more outliers lose less.</source>
            <translation>各块去掉其权重的 {n} % 到 {n2} %：离群值较多的去掉较少。</translation>
        </message>
        <message>
            <source>{count} of {total} layers go</source>
            <translation>去掉 {total} 层中的 {count} 层</translation>
        </message>
        <message>
            <source>Dropped {n} of {total} layers, counted from 0: {n2}{said}; {n3} % of all parameters are gone.</source>
            <translation>去掉了 {total} 层中的 {n} 层，从 0 数起：{n2}{said}；去掉了全部参数的 {n3} %。</translation>
        </message>
        <message>
            <source>0 % smaller on disk, {n} % zeros: {zeros} of the {weights} weights in {n2} {n3} are zero ({n4} %); {n5} are untouched.</source>
            <translation>磁盘上小 0 %，{n} % 为零：{n2} 个{n3}的 {weights} 个权重中有 {zeros} 个为零（{n4} %）；{n5}未动。</translation>
        </message>
        <message>
            <source>convolutions and linear layers</source>
            <translation>卷积层和线性层</translation>
        </message>
        <message>
            <source>linear layers</source>
            <translation>线性层</translation>
        </message>
        <message>
            <source>the first and last convolution, time embedding, norms and biases</source>
            <translation>首末卷积、时间嵌入、归一化和偏置</translation>
        </message>
        <message>
            <source>embeddings, head, norms and biases</source>
            <translation>嵌入、输出头、归一化和偏置</translation>
        </message>
        <message>
            <source>Zeros are computed with like other numbers, so by itself nothing is faster.</source>
            <translation>零与其他数一样参与计算，因此本身并不会更快。</translation>
        </message>
        <message>
            <source>Left as they were, since {n} doesn't divide their width: {n2}.</source>
            <translation>保持原样，因为 {n} 不能整除其宽度：{n2}。</translation>
        </message>
        <message>
            <source>Outside the blocks, so pruned by magnitude alone: {n}.</source>
            <translation>位于各块之外，因此只按幅值剪枝：{n}。</translation>
        </message>
        <message>
            <source>{n} million parameters become {n2} million at most</source>
            <translation>参数量由 {n} 百万变为至多 {n2} 百万</translation>
        </message>
        <message>
            <source>{n} million parameters became {n2} million ({n3} % fewer): {n4}; loss on the calibration text {first} before, {n5} after.</source>
            <translation>参数量由 {n} 百万变为 {n2} 百万（少 {n3} %）：{n4}；校准文本上的损失之前为 {first}，之后为 {n5}。</translation>
        </message>
        <message>
            <source>How much smaller depends on the text; known once it has been read</source>
            <translation>能缩小多少取决于文本；读取文本后可知</translation>
        </message>
        <message>
            <source>Vocabulary {size} -&gt; {n} tokens: what {name} uses, and what any other text can be written with. {n2} % of all parameters are gone.</source>
            <translation>词表 {size} -&gt; {n} 个词元：{name} 用到的，以及能写出任何其他文本的。去掉了全部参数的 {n2} %。</translation>
        </message>
        <message>
            <source>{name} now takes {after} tokens instead of {before} ({n} % more).</source>
            <translation>{name} 现在需要 {after} 个词元，而不是 {before} 个（多 {n} %）。</translation>
        </message>
        <message>
            <source>{name} is read as the same {before} tokens; text unlike it takes more tokens than before.</source>
            <translation>{name} 仍读为同样的 {before} 个词元；与它不同的文本所需词元比以前多。</translation>
        </message>
        <message>
            <source>{scaled} of them with their columns scaled; the inverse lies in the layer before.</source>
            <translation>其中 {scaled} 个的列经过缩放；其倒数放在前一层中。</translation>
        </message>
        <message>
            <source>{name}: {n} % of {numbers} numbers changed (relative error {n2}), {vanished} became zero, {n3}.</source>
            <translation>{name}：{numbers} 个数值中有 {n} % 改变（相对误差 {n2}），{vanished} 个变为零，{n3}。</translation>
        </message>
        <message>
            <source>{beyond} were out of range and clipped</source>
            <translation>{beyond} 个超出范围而被截断</translation>
        </message>
        <message>
            <source>none was out of range</source>
            <translation>没有超出范围的</translation>
        </message>
        <message>
            <source>{name}: nothing is lost, all {numbers} numbers are the same.</source>
            <translation>{name}：没有任何损失，全部 {numbers} 个数值都相同。</translation>
        </message>
        <message>
            <source>diffusers loads no weights in fp8; choose float16 or bfloat16</source>
            <translation>diffusers 不加载 fp8 权重；请选择 float16 或 bfloat16</translation>
        </message>
        <message>
            <source>Careful: numbers up to {reached} flow through this model, and {to} ends at {most}. Its weights fit, but a model that computes in {to2} overflows: load it in float32 or bfloat16 to use it.</source>
            <translation>注意：流经这个模型的数值最大达 {reached}，而 {to} 的上限是 {most}。权重放得下，但以 {to2} 计算的模型会溢出：使用时请以 float32 或 bfloat16 加载。</translation>
        </message>
        <message>
            <source>{n} linear layers, {n2}; embeddings, head and norms stay in {kept}. They're computed with in the model's own precision.</source>
            <translation>{n} 个线性层，{n2}；嵌入、输出头和归一化保持 {kept}。计算时使用模型自身的精度。</translation>
        </message>
        <message>
            <source>{n} linear layers: weights in fp8, one scale for each output row. Embeddings and head stay in {kept}.</source>
            <translation>{n} 个线性层：权重为 fp8，每个输出行一个缩放系数。嵌入和输出头保持 {kept}。</translation>
        </message>
        <message>
            <source>Group size {size} instead of {group_size}: {group_size2} doesn't divide the widths {n}, and all layers get the same.</source>
            <translation>分组大小为 {size} 而不是 {group_size}：{group_size2} 不能整除宽度 {n}，所有层采用相同的分组。</translation>
        </message>
        <message>
            <source>{count} linear layers in {bits} bits, one scale for each {n}</source>
            <translation>{count} 个线性层为 {bits} 位，每{n}一个缩放系数</translation>
        </message>
        <message>
            <source>{size} columns of a row</source>
            <translation>一行中的 {size} 列</translation>
        </message>
        <message>
            <source>output row</source>
            <translation>输出行</translation>
        </message>
        <message>
            <source>{count} linear layers in {bits} bits, one scale for each {n}.</source>
            <translation>{count} 个线性层为 {bits} 位，每{n}一个缩放系数。</translation>
        </message>
        <message>
            <source>{count} linear layers in {bits} bits, one scale for each {n}; embeddings and head stay in {n2}.</source>
            <translation>{count} 个线性层为 {bits} 位，每{n}一个缩放系数；嵌入和输出头保持 {n2}。</translation>
        </message>
        <message>
            <source>Outside the blocks, so only rounded to nearest: {n}.</source>
            <translation>位于各块之外，因此只作就近舍入：{n}。</translation>
        </message>
        <message>
            <source>Left as they were, since transformers can't reload them packed: {n}.</source>
            <translation>保持原样，因为 transformers 无法以打包形式重新加载它们：{n}。</translation>
        </message>
        <message>
            <source>Group size {size} instead of {group_size}, which doesn't divide the widths of all layers.</source>
            <translation>组大小用 {size} 而不是 {group_size}，后者不能整除所有层的宽度。</translation>
        </message>
        <message>
            <source>{n} convolutions and linear layers in {bits} bits, one scale for each {shared}; the first and last convolution, time embedding and norms stay as they are.</source>
            <translation>{n} 个卷积层和线性层用 {bits} 位，每个{shared}一个缩放；首末卷积、时间嵌入和归一化保持原样。</translation>
        </message>
        <message>
            <source>0 % smaller on disk: diffusers loads no packed weights by itself, so the file holds the rounded numbers in {kind}. As codes and scales these layers would take {n} MB instead of {n2} MB.</source>
            <translation>磁盘上小 0 %：diffusers 自己不加载打包权重，因此文件以 {kind} 保存舍入后的数。若存为编码和缩放，这些层会占 {n} MB 而不是 {n2} MB。</translation>
        </message>
        <message>
            <source>Stored in {kind}, they're rounded once more, so they lie beside the grid by that rounding.</source>
            <translation>以 {kind} 存储时会再舍入一次，因此与网格相差这次舍入。</translation>
        </message>
        <message>
            <source>{n} in {bits} bits, one scale for each {n2}.</source>
            <translation>{n}为 {bits} 位，每{n2}一个缩放系数。</translation>
        </message>
        <message>
            <source>Embedding and head, which share their codes,</source>
            <translation>共用编码的嵌入和输出头</translation>
        </message>
        <message>
            <source>The embedding</source>
            <translation>嵌入</translation>
        </message>
        <message>
            <source>{group} columns of a row</source>
            <translation>一行中的 {group} 列</translation>
        </message>
        <message>
            <source>row</source>
            <translation>行</translation>
        </message>
        <message>
            <source>0 % smaller on disk: diffusers loads no packed weights by itself, so they're rounded and stored as floating numbers</source>
            <translation>磁盘上小 0 %：diffusers 自己不加载打包权重，因此舍入后仍存为浮点数</translation>
        </message>
        <message>
            <source>The size isn't known beforehand: the model's shape isn't in its configuration.</source>
            <translation>事先不知道大小：模型的形状不在其配置中。</translation>
        </message>
        <message>
            <source>Group size {size} instead of {group_size}, which doesn't divide the widths.</source>
            <translation>分组大小为 {size} 而不是 {group_size}，因为后者不能整除各层宽度。</translation>
        </message>
        <message>
            <source>Can't be stored: {problem}.</source>
            <translation>无法存储：{problem}。</translation>
        </message>
        <message>
            <source>Smoothed at {n} places beforehand, alpha {smooth}.</source>
            <translation>事先在 {n} 处平滑，alpha 为 {smooth}。</translation>
        </message>
        <message>
            <source>Clipped of the inputs seen: {mean} %, at most {most_clipped} % in a layer.</source>
            <translation>所见输入中被截断的：{mean} %，单层最多 {most_clipped} %。</translation>
        </message>
        <message>
            <source>The size follows from the bits of each layer.</source>
            <translation>大小取决于每层的位数。</translation>
        </message>
        <message>
            <source>The size follows from the sensitivities, which are measured first.</source>
            <translation>大小取决于敏感度，敏感度要先测量。</translation>
        </message>
        <message>
            <source>At most: the bits chosen fill the budget as far as they fit.</source>
            <translation>上限：所选位数会尽量用满预算。</translation>
        </message>
        <message>
            <source>Bits chosen from {n} measured sensitivities: {n2} bits a weight, single-layer KLs sum to {n3} (an estimate, rounding to nearest).</source>
            <translation>位数由 {n} 个测得的敏感度选出：每权重 {n2} 位，单层 KL 之和为 {n3}（按就近舍入的估计）。</translation>
        </message>
        <message>
            <source>Layers by bits: {n}.</source>
            <translation>各位数的层数：{n}。</translation>
        </message>
        <message>
            <source>KL to the teacher {n} before, {n2} after; it chooses the teacher's token {n3} % of the time ({n4} % before).</source>
            <translation>与教师的 KL 之前为 {n}，之后为 {n2}；它有 {n3} % 的时候选中教师的词元（之前为 {n4} %）。</translation>
        </message>
        <message>
            <source>{count} linear layers learnt on their grid; embeddings, head and norms stay in {n}.</source>
            <translation>{count} 个线性层在各自的网格上学习；嵌入、输出头和归一化保持 {n}。</translation>
        </message>
        <message>
            <source>Learnt on with the grid of the parent: {n}{bits}, {n2} layers.</source>
            <translation>以父变体的网格继续学习：{n}{bits}，{n2} 层。</translation>
        </message>
        <message>
            <source>fp</source>
            <translation>fp</translation>
        </message>
        <message>
            <source>int</source>
            <translation>int</translation>
        </message>
        <message>
            <source>Group size {size} instead of {group_size}, which doesn't divide the model's widths.</source>
            <translation>分组大小为 {size} 而不是 {group_size}，因为后者不能整除模型的宽度。</translation>
        </message>
        <message>
            <source>Weights in {kind}, one scale for each {n}.</source>
            <translation>权重为 {kind}，每{n}一个缩放系数。</translation>
        </message>
        <message>
            <source>Inputs {name}.</source>
            <translation>输入：{name}。</translation>
        </message>
        <message>
            <source>Smoothed at {n} places, {norms} of them norms; alpha (places): {alphas}.</source>
            <translation>在 {n} 处平滑，其中 {norms} 处为归一化；alpha（处数）：{alphas}。</translation>
        </message>
        <message>
            <source>{without} layers have nothing before them that a scale could be moved into; they're quantized as they are.</source>
            <translation>{without} 个层之前没有可移入缩放系数之处；它们按原样量化。</translation>
        </message>
        <message>
            <source>Quantized weights alone, since they don't read text token by token: {n}.</source>
            <translation>仅量化权重，因为它们不逐词元读取文本：{n}。</translation>
        </message>
        <message>
            <source>{rounded} linear layers: weights in {n}, one scale for each output row; their inputs {name}. Embeddings and head stay in {kept}.</source>
            <translation>{rounded} 个线性层：权重为 {n}，每个输出行一个缩放系数；输入为 {name}。嵌入和输出头保持 {kept}。</translation>
        </message>
        <message>
            <source>int8</source>
            <translation>int8</translation>
        </message>
        <message>
            <source>Spokeshave multiplies these layers in 8 bits on this processor. Plain transformers computes the same numbers from copies in floating point, rounding included, and isn't faster.</source>
            <translation>在这台处理器上，Spokeshave 以 8 位整数计算这些层。普通的 transformers 用浮点副本算出相同的数（含舍入），并不更快。</translation>
        </message>
        <message>
            <source>Not faster here: Spokeshave and plain transformers compute the same numbers from copies in floating point, rounding included. Runtimes such as vLLM multiply in 8 bits.</source>
            <translation>在这里并不更快：Spokeshave 和普通 transformers 用浮点副本算出同样的数值，包括舍入。vLLM 等运行时以 8 位相乘。</translation>
        </message>
        <message>
            <source>How long it takes depends on how long the examples are</source>
            <translation>所需时间取决于样本的长度</translation>
        </message>
        <message>
            <source>Classes: {shown}.</source>
            <translation>类别：{shown}。</translation>
        </message>
        <message>
            <source>Learnt from {n} examples; a fifth of {name} is held out for measuring.</source>
            <translation>从 {n} 个样例学习；{name} 的五分之一留出用于测量。</translation>
        </message>
        <message>
            <source>Taught by {n} beside the truth.</source>
            <translation>除真实答案外，还由 {n} 来教。</translation>
        </message>
        <message>
            <source>the uncut model</source>
            <translation>未削减的模型</translation>
        </message>
        <message>
            <source>Taught by {name}.</source>
            <translation>由 {name} 教。</translation>
        </message>
        <message>
            <source>{held} zeros held ({share} % of the weights of convolutions and linear layers in the blocks).</source>
            <translation>保持了 {held} 个零（占各块卷积层和线性层权重的 {share} %）。</translation>
        </message>
        <message>
            <source>Its weights don't lie on the grid of {bits} bits any more that they were rounded to.</source>
            <translation>它的权重不再位于先前舍入到的 {bits} 位网格上。</translation>
        </message>
        <message>
            <source>{after} at the best step ({best_step}), which was kept</source>
            <translation>最佳一步（第 {best_step} 步）为 {after}，已保留该步</translation>
        </message>
        <message>
            <source>never better: nothing was changed</source>
            <translation>之后从未更低：未作任何改动</translation>
        </message>
        <message>
            <source>{steps} steps{n}; {what} {before} before, {kept}.</source>
            <translation>{steps} 步{n}；{what} 训练前为 {before}，{kept}。</translation>
        </message>
        <message>
            <source>Dequantized from {quantization}; stored in {stored}, so the file grew.</source>
            <translation>由 {quantization} 反量化；以 {stored} 存储，因此文件变大了。</translation>
        </message>
        <message>
            <source>Where it came from, activations were quantized too; here they aren't, so its numbers differ from those there.</source>
            <translation>在其来源处激活也是量化的；这里没有，因此数值与那里不同。</translation>
        </message>
        <message>
            <source>A diffusion model keeps the precision that it's stored in.</source>
            <translation>扩散模型保持其存储精度。</translation>
        </message>
        <message>
            <source>Stored in {dtype}; the source was in {n}.</source>
            <translation>以 {dtype} 存储；来源为 {n}。</translation>
        </message>
        <message>
            <source>It is stored quantized, so the precision that was asked for doesn't apply.</source>
            <translation>它以量化形式存储，因此所要求的精度不适用。</translation>
        </message>
        <message>
            <source>Dequantized from {n}; stored in {dtype}, so the file grew.</source>
            <translation>由 {n} 反量化；以 {dtype} 存储，因此文件变大了。</translation>
        </message>
        <message>
            <source>GGUF</source>
            <translation>GGUF</translation>
        </message>
        <message>
            <source>no method named</source>
            <translation>没有此名称的方法</translation>
        </message>
        <message>
            <source>awq {layout} {bits}-bit</source>
            <translation>awq {layout} {bits} 位</translation>
        </message>
        <message>
            <source>bitsandbytes</source>
            <translation>bitsandbytes</translation>
        </message>
        <message>
            <source>torchao</source>
            <translation>torchao</translation>
        </message>
        <message>
            <source>The tokenizer has more tokens than the embedding has rows, so some text can't be read.</source>
            <translation>分词器的词元比嵌入的行多，因此有些文本无法读取。</translation>
        </message>
        <message>
            <source>This model comes with its own code; it isn't run unless you ask for it.</source>
            <translation>这个模型附带自己的代码；除非你要求，不会运行。</translation>
        </message>
        <message>
            <source>The output layer is tied to the embedding, yet the file stores it twice.</source>
            <translation>输出层与嵌入绑定，但文件把它存了两次。</translation>
        </message>
        <message>
            <source>There is no tokenizer, so text can't be scored or generated.</source>
            <translation>没有分词器，因此无法对文本评分或生成文本。</translation>
        </message>
        <message>
            <source>It is stored quantized in a way that Spokeshave doesn't read.</source>
            <translation>它以 Spokeshave 读不了的方式量化存储。</translation>
        </message>
        <message>
            <source>Held in float32 it needs more memory than is free.</source>
            <translation>以 float32 存放所需的内存超过可用内存。</translation>
        </message>
        <message>
            <source>One of the two has no tokenizer, so neither can read what the other writes.</source>
            <translation>两者之一没有分词器，因此彼此读不懂对方所写。</translation>
        </message>
        <message>
            <source>Its tokens differ, so its text is re-encoded; the output stays exact, but more drafted tokens are lost.</source>
            <translation>它的词元不同，因此它的文本会被重新编码；输出仍然精确，但会损失更多草稿词元。</translation>
        </message>
        <message>
            <source>{n} didn't take this graph on: {n2} computes it.</source>
            <translation>{n} 没有接受这个计算图：由 {n2} 计算。</translation>
        </message>
        <message>
            <source>The original is left out: there isn't enough memory for all three at once.</source>
            <translation>略去原模型：内存不足以同时容纳三者。</translation>
        </message>
        <message>
            <source>Other programs used {n} of the processors meanwhile, so the speeds are lower than they could be.</source>
            <translation>其间其他程序用了 {n} 的处理器，因此速度比应有的低。</translation>
        </message>
        <message>
            <source>The model is larger than the memory that was free: it was worked on block by block from disk.</source>
            <translation>模型大于可用内存：已从磁盘逐块处理。</translation>
        </message>
        <message>
            <source>Not measured: {error}</source>
            <translation>未测量：{error}</translation>
        </message>
        <message>
            <source>left</source>
            <translation>左</translation>
        </message>
        <message>
            <source>right</source>
            <translation>右</translation>
        </message>
        <message>
            <source>int8 per token</source>
            <translation>int8（逐词元）</translation>
        </message>
        <message>
            <source>int8 with an offset per token</source>
            <translation>带偏移的 int8（逐词元）</translation>
        </message>
        <message>
            <source>fp8 per token</source>
            <translation>fp8（逐词元）</translation>
        </message>
        <message>
            <source>int8, one fixed scale</source>
            <translation>int8（一个固定缩放系数）</translation>
        </message>
        <message>
            <source>int8 with an offset, one fixed scale</source>
            <translation>带偏移的 int8（一个固定缩放系数）</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>头</translation>
        </message>
        <message>
            <source>head</source>
            <translation>头</translation>
        </message>
        <message>
            <source>key-value groups</source>
            <translation>键值组</translation>
        </message>
        <message>
            <source>key-value group</source>
            <translation>键值组</translation>
        </message>
    </context>
    <context>
        <name>courses</name>
        <message>
            <source>Courses that the first round can take</source>
            <translation>第一轮可能的过程</translation>
        </message>
        <message>
            <source>{cells}. Written: {text}. Probability {chance}.</source>
            <translation>{cells}。写出：{text}。概率 {chance}。</translation>
        </message>
    </context>
    <context>
        <name>curves</name>
        <message>
            <source>Training loss</source>
            <translation>训练损失</translation>
        </message>
        <message>
            <source>Loss against the teacher</source>
            <translation>相对教师的损失</translation>
        </message>
        <message>
            <source>Loss on the text</source>
            <translation>文本上的损失</translation>
        </message>
        <message>
            <source>Loss of the hidden states</source>
            <translation>隐藏状态的损失</translation>
        </message>
        <message>
            <source>Loss of the attention relations</source>
            <translation>注意力关系的损失</translation>
        </message>
        <message>
            <source>Acceptance as a draft</source>
            <translation>作为草稿的接受率</translation>
        </message>
        <message>
            <source>Predicted speed-up as a draft</source>
            <translation>作为草稿的预计加速</translation>
        </message>
        <message>
            <source>Measured speed-up as a draft</source>
            <translation>作为草稿模型的实测加速比</translation>
        </message>
        <message>
            <source>Learning rate</source>
            <translation>学习率</translation>
        </message>
        <message>
            <source>Perplexity on text kept aside</source>
            <translation>预留文本上的困惑度</translation>
        </message>
        <message>
            <source>Loss on text kept aside</source>
            <translation>预留文本上的损失</translation>
        </message>
        <message>
            <source>Divergence from the teacher</source>
            <translation>与教师的散度</translation>
        </message>
        <message>
            <source>Agreement with the teacher</source>
            <translation>与教师的一致率</translation>
        </message>
        <message>
            <source>Accuracy on examples kept aside</source>
            <translation>预留样例上的准确率</translation>
        </message>
        <message>
            <source>Perplexity after each round</source>
            <translation>每轮之后的困惑度</translation>
        </message>
        <message>
            <source>Accuracy after each round</source>
            <translation>每轮之后的准确率</translation>
        </message>
        <message>
            <source>Share gone after each round</source>
            <translation>每轮之后去掉的份额</translation>
        </message>
        <message>
            <source>Error of a gradient</source>
            <translation>梯度的误差</translation>
        </message>
        <message>
            <source>Loss after each cut</source>
            <translation>每次削减后的损失</translation>
        </message>
        <message>
            <source>Parameters after each cut</source>
            <translation>每次削减后的参数量</translation>
        </message>
        <message>
            <source>As heads go, by {criterion}</source>
            <translation>逐个去掉注意力头，按 {criterion}</translation>
        </message>
        <message>
            <source>Loss on text kept aside: {choice}</source>
            <translation>预留文本上的损失：{choice}</translation>
        </message>
        <message>
            <source>Round</source>
            <translation>轮次</translation>
        </message>
        <message>
            <source>Cut</source>
            <translation>剪去</translation>
        </message>
        <message>
            <source>Heads gone</source>
            <translation>去掉的头</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>步</translation>
        </message>
        <message>
            <source>What the training makes smaller, at each step, on the text it learns from. Lower is better.</source>
            <translation>训练在所学文本上逐步减小的量。越低越好。</translation>
        </message>
        <message>
            <source>How far the student's probabilities are from the teacher's, at the temperature chosen. Lower is better.</source>
            <translation>在所选温度下，学生与教师的概率相差多少。越低越好。</translation>
        </message>
        <message>
            <source>Cross-entropy of the text's own next tokens. Lower is better.</source>
            <translation>文本自身下一个词元的交叉熵。越低越好。</translation>
        </message>
        <message>
            <source>How far what the student's layers hand on is from the teacher's, direction against direction.</source>
            <translation>学生各层的输出与教师的相差多远，按方向比较。</translation>
        </message>
        <message>
            <source>How far the last layer's relations between tokens are from the teacher's, in nats.</source>
            <translation>最后一层中词元之间的关系与教师的相差多远，以奈特计。</translation>
        </message>
        <message>
            <source>Share of the student's tokens that the teacher would keep, were it to draft for it, on text kept aside. Higher is better.</source>
            <translation>若由学生起草，教师会保留其词元的比例，在留出的文本上测得。越高越好。</translation>
        </message>
        <message>
            <source>How much faster the two would write than the target alone, by this acceptance and measured costs. Above 1 it pays.</source>
            <translation>按此接受率和实测开销，两者合用比目标独自写快多少。大于 1 才划算。</translation>
        </message>
        <message>
            <source>How much faster the two wrote than the target alone, in turns, on a few short texts sampled at temperature 1. It's measured while the training waits, so it sways; 'Find me a draft' measures longer.</source>
            <translation>在几段以温度 1 采样的短文本上，两者轮流写时比目标模型单独写快多少。测量时训练在等待，因此会波动；“找一个草稿模型”测量得更久。</translation>
        </message>
        <message>
            <source>Size of the updates: it grows through the warm-up and falls afterwards.</source>
            <translation>更新的幅度：预热期间增大，之后减小。</translation>
        </message>
        <message>
            <source>On the end of the text, which isn't trained on. Lower is better; where it rises again, the text is being learnt by heart.</source>
            <translation>在不参与训练的文本末尾上测得。越低越好；若重新上升，说明模型在死记文本。</translation>
        </message>
        <message>
            <source>Share of right answers on examples that aren't trained on and that the best step is chosen by. Higher is better.</source>
            <translation>在不参与训练、用来选取最佳一步的样例上，答对的比例。越高越好。</translation>
        </message>
        <message>
            <source>On text kept aside, after the training that follows each cut; round 0 is before the first.</source>
            <translation>预留文本上的值，在每次削减后的训练之后测得；第 0 轮为首次削减之前。</translation>
        </message>
        <message>
            <source>On examples kept aside, after the training that follows each cut; round 0 is before the first.</source>
            <translation>预留样例上的值，在每次削减后的训练之后测得；第 0 轮为首次削减之前。</translation>
        </message>
        <message>
            <source>Share of the linear layers' weights that's gone, by rounds; most goes early.</source>
            <translation>线性层的权重中已去掉的份额，按轮次；大部分在前几轮去掉。</translation>
        </message>
        <message>
            <source>On the end of the text, which isn't trained on. The step where it's lowest is the one that's kept.</source>
            <translation>在不参与训练的文本末尾上测得。保留它最低的那一步。</translation>
        </message>
        <message>
            <source>KL from the teacher to the student on text kept aside, in nats a token. Lower is better.</source>
            <translation>预留文本上教师到学生的 KL 散度，单位为每词元纳特。越低越好。</translation>
        </message>
        <message>
            <source>Share of the tokens of text kept aside for which both find the same next token likeliest. Higher is better.</source>
            <translation>在预留文本中，两者认为最可能的下一个词元相同的比例。越高越好。</translation>
        </message>
        <message>
            <source>Of a gradient as it arrives: |change| / |gradient|.</source>
            <translation>梯度到达时的误差：|变化| / |梯度|。</translation>
        </message>
        <message>
            <source>What's left after each cut of depth, width or heads.</source>
            <translation>每次削减深度、宽度或注意力头后剩余的参数。</translation>
        </message>
        <message>
            <source>On the calibration text, after each cut. The cut that costs least a parameter is made each time.</source>
            <translation>校准文本上的值，每次削减之后测得。每次都选单位参数代价最小的削减。</translation>
        </message>
    </context>
    <context>
        <name>decode_steps</name>
        <message>
            <source>{n} ms</source>
            <translation>{n} 毫秒</translation>
        </message>
        <message>
            <source>1 of 3, draft: {n} tokens are guessed</source>
            <translation>1/3 打草稿：猜了 {n} 个词元</translation>
        </message>
        <message>
            <source>1 of 3, draft: one token is guessed</source>
            <translation>1/3 打草稿：猜了一个词元</translation>
        </message>
        <message>
            <source>2 of 3, verify: one call of the target scores {n} places at once</source>
            <translation>2/3 验证：目标模型的一次调用同时为 {n} 个位置评分</translation>
        </message>
        <message>
            <source>Nothing was drafted, and reading the prompt had given this token already.</source>
            <translation>没有打草稿，而读取提示词时已经得到了这个词元。</translation>
        </message>
        <message>
            <source>Nothing was drafted: one call of the target, one token</source>
            <translation>没有打草稿：目标模型调用一次，得到一个词元</translation>
        </message>
        <message>
            <source>3 of 3: the text ends here, so the target adds nothing.</source>
            <translation>3/3：文本到此结束，所以目标模型不再添加。</translation>
        </message>
        <message>
            <source>3 of 3, bonus: {token} – {why}.</source>
            <translation>3/3 额外：{token} – {why}。</translation>
        </message>
        <message>
            <source>3 of 3, correct: {token} – {why}.</source>
            <translation>3/3 更正：{token} – {why}。</translation>
        </message>
        <message>
            <source>The draft was unsure, so it stopped there.</source>
            <translation>草稿模型没有把握，就停在那里。</translation>
        </message>
        <message>
            <source>It had no more to propose.</source>
            <translation>它没有更多可提议的。</translation>
        </message>
        <message>
            <source>More wouldn't fit the length asked for.</source>
            <translation>再多就超出所要求的长度。</translation>
        </message>
        <message>
            <source>It guessed that the text ends there.</source>
            <translation>它猜测文本在那里结束。</translation>
        </message>
        <message>
            <source>All {n} are kept.</source>
            <translation>{n} 个全部保留。</translation>
        </message>
        <message>
            <source>{kept} of {n} are kept; {token} is {why}.</source>
            <translation>{n} 个中保留 {kept} 个；{token}：{why}。</translation>
        </message>
    </context>
    <context>
        <name>gradients</name>
        <message>
            <source>{n} bits, a scale a tensor</source>
            <translation>{n} 位，每张量一个缩放系数</translation>
        </message>
        <message>
            <source>{n} bits, a scale a tensor, error feedback</source>
            <translation>{n} 位，每张量一个缩放系数，误差反馈</translation>
        </message>
        <message>
            <source>{n} bits, a scale a row</source>
            <translation>{n} 位，每行一个缩放系数</translation>
        </message>
        <message>
            <source>{n} bits, a scale a row, error feedback</source>
            <translation>{n} 位，每行一个缩放系数，误差反馈</translation>
        </message>
    </context>
    <context>
        <name>jobs</name>
        <message>
            <source>Go on</source>
            <translation>接着进行</translation>
        </message>
        <message>
            <source>Pause: it keeps its place and its memory, and goes on when you say</source>
            <translation>暂停：它保持进度和内存，由你决定何时继续</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
    </context>
    <context>
        <name>measures</name>
        <message>
            <source>{change} pt</source>
            <translation>{change} 个百分点</translation>
        </message>
        <message>
            <source>Perplexity</source>
            <translation>困惑度</translation>
        </message>
        <message>
            <source>Bits per byte</source>
            <translation>每字节位数</translation>
        </message>
        <message>
            <source>KL divergence</source>
            <translation>KL 散度</translation>
        </message>
        <message>
            <source>Agreement</source>
            <translation>一致率</translation>
        </message>
        <message>
            <source>Accuracy</source>
            <translation>准确率</translation>
        </message>
        <message>
            <source>Cosine</source>
            <translation>余弦</translation>
        </message>
        <message>
            <source>Fréchet distance</source>
            <translation>弗雷歇距离</translation>
        </message>
        <message>
            <source>Accuracy of what's drawn</source>
            <translation>所画内容的准确率</translation>
        </message>
        <message>
            <source>Drawing speed</source>
            <translation>绘图速度</translation>
        </message>
        <message>
            <source>images/s</source>
            <translation>张/秒</translation>
        </message>
        <message>
            <source>Decode speed</source>
            <translation>解码速度</translation>
        </message>
        <message>
            <source>Prefill speed</source>
            <translation>预填充速度</translation>
        </message>
        <message>
            <source>Resident memory</source>
            <translation>常驻内存</translation>
        </message>
        <message>
            <source>Difference when reloaded</source>
            <translation>重新加载后的差异</translation>
        </message>
        <message>
            <source>Peak memory</source>
            <translation>峰值内存</translation>
        </message>
        <message>
            <source>ONNX logit difference</source>
            <translation>ONNX logit 差</translation>
        </message>
        <message>
            <source>ONNX top-1 agreement</source>
            <translation>ONNX 首选一致率</translation>
        </message>
        <message>
            <source>ONNX KL divergence</source>
            <translation>ONNX KL 散度</translation>
        </message>
        <message>
            <source>ONNX size</source>
            <translation>ONNX 大小</translation>
        </message>
        <message>
            <source>GGUF logit difference</source>
            <translation>GGUF logit 差异</translation>
        </message>
        <message>
            <source>GGUF top-1 agreement</source>
            <translation>GGUF 首选一致率</translation>
        </message>
        <message>
            <source>GGUF KL divergence</source>
            <translation>GGUF KL 散度</translation>
        </message>
        <message>
            <source>GGUF size</source>
            <translation>GGUF 大小</translation>
        </message>
        <message>
            <source>Packed size</source>
            <translation>打包后大小</translation>
        </message>
        <message>
            <source>Decode</source>
            <translation>解码</translation>
        </message>
        <message>
            <source>Drawing</source>
            <translation>绘图</translation>
        </message>
        <message>
            <source>Prefill</source>
            <translation>预填充</translation>
        </message>
        <message>
            <source>taken {when}</source>
            <translation>测于 {when}</translation>
        </message>
        <message>
            <source>yes</source>
            <translation>是</translation>
        </message>
        <message>
            <source>no</source>
            <translation>否</translation>
        </message>
    </context>
    <context>
        <name>overlap</name>
        <message>
            <source>What's kept and what's made good, for the first token</source>
            <translation>首个词元中保留的与补上的</translation>
        </message>
        <message>
            <source>{word}: draft {p}, target {q}; kept {kept}, corrected {corrected}.</source>
            <translation>{word}：草稿 {p}，目标 {q}；保留 {kept}，更正 {corrected}。</translation>
        </message>
        <message>
            <source>kept, min(p, q)</source>
            <translation>保留，min(p, q)</translation>
        </message>
        <message>
            <source>dropped, p − q</source>
            <translation>丢弃，p − q</translation>
        </message>
        <message>
            <source>made good by corrections</source>
            <translation>由更正补上</translation>
        </message>
        <message>
            <source>the target's own q</source>
            <translation>目标模型自己的 q</translation>
        </message>
    </context>
    <context>
        <name>speculation</name>
        <message>
            <source>Place in the draft</source>
            <translation>在草稿中的位置</translation>
        </message>
        <message>
            <source>Kept of tested</source>
            <translation>检验中保留的比例</translation>
        </message>
        <message>
            <source>Acceptance by place in the draft</source>
            <translation>草稿中各位置的接受率</translation>
        </message>
        <message>
            <source>Nothing was drafted, so no place of a draft was tested.</source>
            <translation>没有打草稿，因此没有检验过草稿的任何位置。</translation>
        </message>
        <message>
            <source>How often the first, second, third … token of a draft is kept.</source>
            <translation>草稿的第一、第二、第三……个词元被保留的频率。</translation>
        </message>
        <message>
            <source>place {n}: {kept} of {tested} kept, {share}</source>
            <translation>位置 {n}：{tested} 个中保留 {kept} 个，{share}</translation>
        </message>
        <message>
            <source>promised {share}</source>
            <translation>预期 {share}</translation>
        </message>
        <message>
            <source>kept (of so many tested)</source>
            <translation>保留（检验数见柱底）</translation>
        </message>
        <message>
            <source>all places {share}</source>
            <translation>所有位置 {share}</translation>
        </message>
        <message>
            <source>promised: Σ min(p, q)</source>
            <translation>预期：Σ min(p, q)</translation>
        </message>
        <message>
            <source>Promised: Σ min(p, q)</source>
            <translation>预期：Σ min(p, q)</translation>
        </message>
        <message>
            <source>Acceptance measured against promised</source>
            <translation>接受率的实测与预期</translation>
        </message>
        <message>
            <source>Nothing is drafted, so there's no acceptance to compare.</source>
            <translation>没有打草稿，因此没有可比较的接受率。</translation>
        </message>
        <message>
            <source>At temperature 0 a guess is kept just when it's the target's first choice; Σ min(p, q) speaks of sampling.</source>
            <translation>温度为 0 时，猜测只有恰是目标模型的首选才被保留；Σ min(p, q) 说的是采样。</translation>
        </message>
        <message>
            <source>After {n} tested guesses: how often they're kept, against Σ min(p, q).</source>
            <translation>检验过 {n} 个猜测之后：它们被保留的频率与 Σ min(p, q) 的对照。</translation>
        </message>
        <message>
            <source>kept {share}</source>
            <translation>保留 {share}</translation>
        </message>
        <message>
            <source>Draft length γ</source>
            <translation>草稿长度 γ</translation>
        </message>
        <message>
            <source>Speed-up S(γ)</source>
            <translation>加速比 S(γ)</translation>
        </message>
        <message>
            <source>Speed-up by draft length</source>
            <translation>各草稿长度的加速比</translation>
        </message>
        <message>
            <source>Nothing is drafted, so there's no length to choose.</source>
            <translation>没有打草稿，因此没有长度可选。</translation>
        </message>
        <message>
            <source>The speed-up that each draft length promises, once calls were timed and guesses tested.</source>
            <translation>对调用计时并检验猜测之后，各草稿长度可望带来的加速比。</translation>
        </message>
        <message>
            <source>No call of a single token was timed in this run. Run a race, and this curve can be drawn.</source>
            <translation>本次运行没有对单个词元的调用计时。进行一次赛跑，就能画出这条曲线。</translation>
        </message>
        <message>
            <source>γ = {gamma}: {times}{x}</source>
            <translation>γ = {gamma}：{times}{x}</translation>
        </message>
        <message>
            <source>best: γ = {gamma}, {times}{x}</source>
            <translation>最佳：γ = {gamma}，{times}{x}</translation>
        </message>
        <message>
            <source>best: don't draft</source>
            <translation>最佳：不打草稿</translation>
        </message>
        <message>
            <source>measured</source>
            <translation>实测</translation>
        </message>
        <message>
            <source>today</source>
            <translation>当前</translation>
        </message>
        <message>
            <source>promised by the calls' costs</source>
            <translation>按调用代价可望达到</translation>
        </message>
        <message>
            <source>promised by this run's calls</source>
            <translation>按本次运行的调用可望达到</translation>
        </message>
        <message>
            <source>plain</source>
            <translation>普通</translation>
        </message>
        <message>
            <source>Tokens fed in one call</source>
            <translation>一次调用输入的词元数</translation>
        </message>
        <message>
            <source>Milliseconds</source>
            <translation>毫秒</translation>
        </message>
        <message>
            <source>Cost of a call</source>
            <translation>一次调用的代价</translation>
        </message>
        <message>
            <source>What a call of the target costs by the tokens it's fed, once calls were timed.</source>
            <translation>对调用计时之后，目标模型的一次调用按输入词元数的代价。</translation>
        </message>
        <message>
            <source>measured before the run</source>
            <translation>运行之前测得</translation>
        </message>
        <message>
            <source>as met in this run; medians</source>
            <translation>本次运行中所见；中位数</translation>
        </message>
        <message>
            <source>if more tokens were free</source>
            <translation>若多输入词元不花代价</translation>
        </message>
        <message>
            <source>target, {n} tokens: {ms} ms</source>
            <translation>目标，{n} 个词元：{ms} 毫秒</translation>
        </message>
        <message>
            <source>draft, {n} tokens: {ms} ms</source>
            <translation>草稿，{n} 个词元：{ms} 毫秒</translation>
        </message>
        <message>
            <source>target</source>
            <translation>目标</translation>
        </message>
        <message>
            <source>draft</source>
            <translation>草稿</translation>
        </message>
    </context>
    <context>
        <name>text</name>
        <message>
            <source>not measured</source>
            <translation>未测量</translation>
        </message>
        <message>
            <source>fast</source>
            <translation>快速</translation>
        </message>
        <message>
            <source>portable</source>
            <translation>通用</translation>
        </message>
        <message>
            <source>rounded products</source>
            <translation>舍入乘积</translation>
        </message>
        <message>
            <source>{n} s</source>
            <translation>{n} 秒</translation>
        </message>
        <message>
            <source>{m} min {s} s</source>
            <translation>{m} 分 {s} 秒</translation>
        </message>
        <message>
            <source>{m} min</source>
            <translation>{m} 分</translation>
        </message>
        <message>
            <source>{h} h {m} min</source>
            <translation>{h} 小时 {m} 分</translation>
        </message>
        <message>
            <source>{n} s left</source>
            <translation>剩余 {n} 秒</translation>
        </message>
        <message>
            <source>{m} min left</source>
            <translation>剩余 {m} 分</translation>
        </message>
        <message>
            <source>{h} h {m} min left</source>
            <translation>剩余 {h} 小时 {m} 分</translation>
        </message>
        <message>
            <source>Original</source>
            <translation>原始</translation>
        </message>
        <message>
            <source>Pruned</source>
            <translation>剪枝</translation>
        </message>
        <message>
            <source>Quantized</source>
            <translation>量化</translation>
        </message>
        <message>
            <source>Distilled</source>
            <translation>蒸馏</translation>
        </message>
        <message>
            <source>Combined</source>
            <translation>组合</translation>
        </message>
    </context>
    <context>
        <name>token_card</name>
        <message>
            <source>prompt</source>
            <translation>提示词</translation>
        </message>
        <message>
            <source>plain</source>
            <translation>普通</translation>
        </message>
        <message>
            <source>accepted</source>
            <translation>接受</translation>
        </message>
        <message>
            <source>rejected</source>
            <translation>拒绝</translation>
        </message>
        <message>
            <source>corrected</source>
            <translation>更正</translation>
        </message>
        <message>
            <source>bonus</source>
            <translation>额外</translation>
        </message>
        <message>
            <source>untested</source>
            <translation>未检验</translation>
        </message>
        <message>
            <source>guessed</source>
            <translation>猜测</translation>
        </message>
        <message>
            <source>What you wrote.</source>
            <translation>你写的内容。</translation>
        </message>
        <message>
            <source>Written by the target alone: nothing was drafted.</source>
            <translation>由目标模型独自写出：没有打草稿。</translation>
        </message>
        <message>
            <source>Guessed by the draft and kept by the target, which scored the whole guess in one call.</source>
            <translation>草稿模型猜出，目标模型保留；整个猜测由目标模型在一次调用中评分。</translation>
        </message>
        <message>
            <source>Guessed by the draft and dropped by the target. It's no part of the text.</source>
            <translation>草稿模型猜出，被目标模型丢弃。它不属于文本。</translation>
        </message>
        <message>
            <source>What the target put in place of a dropped token.</source>
            <translation>目标模型放在被丢弃词元位置上的词元。</translation>
        </message>
        <message>
            <source>The whole guess was kept, so the same call gave one more token.</source>
            <translation>整个猜测都被保留，因此同一次调用又多给出一个词元。</translation>
        </message>
        <message>
            <source>Guessed, but not looked at, since an earlier token of the guess was dropped.</source>
            <translation>猜出了，但没有被看，因为猜测中更早的一个词元已被丢弃。</translation>
        </message>
        <message>
            <source>Guessed by the draft; the target is asked at the next step.</source>
            <translation>草稿模型猜出；下一步才询问目标模型。</translation>
        </message>
        <message>
            <source>part of the prompt</source>
            <translation>提示词的一部分</translation>
        </message>
        <message>
            <source>written by the target alone: nothing was drafted in this round</source>
            <translation>由目标模型独自写出：这一轮没有打草稿</translation>
        </message>
        <message>
            <source>kept: u = {u} ≤ q/p = {ratio}</source>
            <translation>保留：u = {u} ≤ q/p = {ratio}</translation>
        </message>
        <message>
            <source>kept for sure: the target likes it at least as much, q = {q} ≥ p = {p}</source>
            <translation>必定保留：目标模型对它至少同样看好，q = {q} ≥ p = {p}</translation>
        </message>
        <message>
            <source>kept: u = {u} ≤ q = {q} (this draft has no probabilities)</source>
            <translation>保留：u = {u} ≤ q = {q}（这个草稿没有概率）</translation>
        </message>
        <message>
            <source>kept: it's the target's first choice as well ({q})</source>
            <translation>保留：它也是目标模型的首选（{q}）</translation>
        </message>
        <message>
            <source>kept: it's the target's first choice as well</source>
            <translation>保留：它也是目标模型的首选</translation>
        </message>
        <message>
            <source>dropped: u = {u} &gt; q/p = {ratio}</source>
            <translation>丢弃：u = {u} &gt; q/p = {ratio}</translation>
        </message>
        <message>
            <source>dropped: u = {u} &gt; q = {q} (this draft has no probabilities)</source>
            <translation>丢弃：u = {u} &gt; q = {q}（这个草稿没有概率）</translation>
        </message>
        <message>
            <source>dropped: the target prefers {other} ({q})</source>
            <translation>丢弃：目标模型更愿意选 {other}（{q}）</translation>
        </message>
        <message>
            <source>dropped: the target prefers {other}</source>
            <translation>丢弃：目标模型更愿意选 {other}</translation>
        </message>
        <message>
            <source>dropped by the target</source>
            <translation>被目标模型丢弃</translation>
        </message>
        <message>
            <source>guessed with probability p = {p}; the target hasn't been asked yet</source>
            <translation>以概率 p = {p} 猜出；尚未询问目标模型</translation>
        </message>
        <message>
            <source>guessed; the target hasn't been asked yet</source>
            <translation>猜出；尚未询问目标模型</translation>
        </message>
        <message>
            <source>kept: the block holds up to here, u = {u} ≤ {chance}</source>
            <translation>保留：整块到这里为止成立，u = {u} ≤ {chance}</translation>
        </message>
        <message>
            <source>kept with a later one: the block was judged as a whole</source>
            <translation>随后面的词元一起保留：整块一并评判</translation>
        </message>
        <message>
            <source>dropped: the block doesn't hold up to here, u = {u} &gt; {chance}</source>
            <translation>丢弃：整块到这里不成立，u = {u} &gt; {chance}</translation>
        </message>
        <message>
            <source>dropped: the block doesn't hold up to here</source>
            <translation>丢弃：整块到这里不成立</translation>
        </message>
        <message>
            <source>kept: the target chose it, and it's among the tree's candidates (q = {q}, candidate {rank})</source>
            <translation>保留：目标模型选中它，而它在树的候选之中（q = {q}，第 {rank} 候选）</translation>
        </message>
        <message>
            <source>dropped: the target chose {other}, which isn't among the tree's candidates</source>
            <translation>丢弃：目标模型选中 {other}，它不在树的候选之中</translation>
        </message>
        <message>
            <source>kept: q = {q} is above what typical acceptance asks here, {bar}</source>
            <translation>保留：q = {q} 高于典型接受在此处的要求 {bar}</translation>
        </message>
        <message>
            <source>kept by typical acceptance: it's the target's first choice</source>
            <translation>由典型接受保留：它是目标模型的首选</translation>
        </message>
        <message>
            <source>dropped: q = {q} is below what typical acceptance asks here, {bar}</source>
            <translation>丢弃：q = {q} 低于典型接受在此处的要求 {bar}</translation>
        </message>
        <message>
            <source>dropped by typical acceptance</source>
            <translation>被典型接受丢弃</translation>
        </message>
        <message>
            <source>kept: it's among the target's {k} likeliest (q = {q})</source>
            <translation>保留：它在目标模型最可能的 {k} 个之中（q = {q}）</translation>
        </message>
        <message>
            <source>dropped: it isn't among the target's {k} likeliest (q = {q})</source>
            <translation>丢弃：它不在目标模型最可能的 {k} 个之中（q = {q}）</translation>
        </message>
        <message>
            <source>not looked at: an earlier token of the round was dropped</source>
            <translation>没有看：本轮更早的一个词元已被丢弃</translation>
        </message>
        <message>
            <source>not used: the text had ended before it</source>
            <translation>没有用上：文本在它之前已经结束</translation>
        </message>
        <message>
            <source>put in place of {other}: the target's first choice ({q})</source>
            <translation>取代 {other}：目标模型的首选（{q}）</translation>
        </message>
        <message>
            <source>put in place of {other}: the target's first choice</source>
            <translation>取代 {other}：目标模型的首选</translation>
        </message>
        <message>
            <source>put in place of {other}: drawn from what the target gives more than the draft</source>
            <translation>取代 {other}：从目标模型给得比草稿多的部分中抽取</translation>
        </message>
        <message>
            <source>put in place of {other}: drawn from all the target's other tokens</source>
            <translation>取代 {other}：从目标模型的所有其他词元中抽取</translation>
        </message>
        <message>
            <source>put in place of {other}: drawn from what the block left of the target's probability</source>
            <translation>取代 {other}：从整块留下的目标概率中抽取</translation>
        </message>
        <message>
            <source>the target's own choice; the tree had no branch for it</source>
            <translation>目标模型自己的选择；树上没有它的分支</translation>
        </message>
        <message>
            <source>put in place of {other}: chosen by the target itself</source>
            <translation>取代 {other}：由目标模型自己选出</translation>
        </message>
        <message>
            <source>one more for nothing: all {n} guesses were kept, and the same call had scored this place too</source>
            <translation>白得一个：{n} 个猜测全部保留，而同一次调用也已为这个位置评分</translation>
        </message>
        <message>
            <source>another token</source>
            <translation>另一个词元</translation>
        </message>
        <message>
            <source>α {alpha}</source>
            <translation>α {alpha}</translation>
        </message>
        <message>
            <source>entropy {draft} draft, {target} target</source>
            <translation>熵：草稿 {draft}，目标 {target}</translation>
        </message>
        <message>
            <source>entropy {target} target</source>
            <translation>熵：目标 {target}</translation>
        </message>
        <message>
            <source>candidate {n} of its place</source>
            <translation>所在位置的第 {n} 候选</translation>
        </message>
        <message>
            <source>{distance} from the target's law</source>
            <translation>与目标分布相距 {distance}</translation>
        </message>
        <message>
            <source>place {position}</source>
            <translation>位置 {position}</translation>
        </message>
        <message>
            <source>round {round} · place {position}</source>
            <translation>第 {round} 轮 · 位置 {position}</translation>
        </message>
        <message>
            <source>first leads second by {margin}</source>
            <translation>第一名领先第二名 {margin}</translation>
        </message>
        <message>
            <source>{token}: target {q}</source>
            <translation>{token}：目标 {q}</translation>
        </message>
        <message>
            <source>{token}: draft {p}, target {q}</source>
            <translation>{token}：草稿 {p}，目标 {q}</translation>
        </message>
        <message>
            <source>, left over {r}</source>
            <translation>，剩余 {r}</translation>
        </message>
        <message>
            <source>Pinned. Esc or a click closes it.</source>
            <translation>已固定。按 Esc 或点击即可关闭。</translation>
        </message>
        <message>
            <source>target q(x)</source>
            <translation>目标 q(x)</translation>
        </message>
        <message>
            <source>left over (q−p)⁺</source>
            <translation>剩余 (q−p)⁺</translation>
        </message>
        <message>
            <source>draft p(x)</source>
            <translation>草稿 p(x)</translation>
        </message>
    </context>
    <context>
        <name>toy_rules</name>
        <message>
            <source>Token by token</source>
            <translation>逐词元</translation>
        </message>
        <message>
            <source>Block verification</source>
            <translation>整块验证</translation>
        </message>
        <message>
            <source>Tree of guesses</source>
            <translation>猜测树</translation>
        </message>
        <message>
            <source>Typical acceptance</source>
            <translation>典型接受</translation>
        </message>
        <message>
            <source>Top-k acceptance</source>
            <translation>Top-k 接受</translation>
        </message>
        <message>
            <source>Argmax as a draw</source>
            <translation>把最大值当作抽样</translation>
        </message>
        <message>
            <source>Unsure discarded</source>
            <translation>没把握的丢掉</translation>
        </message>
        <message>
            <source>Correction from q</source>
            <translation>从 q 更正</translation>
        </message>
        <message>
            <source>A guess x is kept with probability min(1, q(x)/p(x)). The first one dropped is replaced by a draw from what the draft left over, (q − p)⁺ scaled to 1. Kept and made good add up to q, whatever p is.</source>
            <translation>猜测 x 以概率 min(1, q(x)/p(x)) 保留。第一个被丢弃的，由从草稿剩下的部分（归一化的 (q − p)⁺）抽取的取代。无论 p 如何，保留的与补上的合起来等于 q。</translation>
        </message>
        <message>
            <source>The guesses are judged together, by the ratio of their joint probabilities, and the longest beginning that it allows is kept. At least as many are kept as token by token, and the law is the same (Sun et al. 2024).</source>
            <translation>各猜测按联合概率之比一并评判，保留它所允许的最长开头。保留的至少与逐词元一样多，分布相同（Sun et al. 2024）。</translation>
        </message>
        <message>
            <source>The draft's two likeliest tokens stand at each depth. The target draws from q: where its token is among them the walk goes on from there, where not, that token ends the round. So every token is a draw from q.</source>
            <translation>每一层放着草稿最可能的两个词元。目标模型从 q 抽取：若抽到的在其中，就从那里继续；若不在，该词元结束这一轮。因此每个词元都是从 q 的抽样。</translation>
        </message>
        <message>
            <source>A guess is kept where q(x) is above a threshold that sinks as the target gets less sure. More is kept, but how often a word comes depends on the draft too (Cai et al. 2024).</source>
            <translation>q(x) 高于阈值的猜测被保留，目标模型越没有把握，阈值越低。保留得更多，但一个词出现的频率也取决于草稿（Cai et al. 2024）。</translation>
        </message>
        <message>
            <source>A guess is kept where it's among the target's k likeliest, however unlikely it ought to be. More is kept, and the draft's taste shows in the text.</source>
            <translation>猜测只要在目标模型最可能的 k 个之中就保留，不管它本应多么不可能。保留得更多，而草稿的口味会显现在文本里。</translation>
        </message>
        <message>
            <source>The draft takes its likeliest token, yet the ratio is taken as if it had drawn it by chance. What's certain has p(x) = 1: with less in its place too much is kept (transformers issue 32867).</source>
            <translation>草稿取了它最可能的词元，比值却当作是随机抽到的。必然的事 p(x) = 1：用更小的数代替，就会保留过多（transformers issue 32867）。</translation>
        </message>
        <message>
            <source>The draft stops where it's unsure of the token that it drew, and throws that token away. What remains isn't a draw from p any more. Stopping and keeping the token would be exact.</source>
            <translation>草稿在对所抽词元没有把握时停止，并把该词元丢掉。剩下的不再是从 p 的抽样。停止但保留该词元才是精确的。</translation>
        </message>
        <message>
            <source>After a dropped guess the correction is drawn from q itself, not from (q − p)⁺. Words that the draft likes then come too often: as guesses, and as corrections once more.</source>
            <translation>猜测被丢弃后，更正从 q 本身而不是从 (q − p)⁺ 抽取。于是草稿偏爱的词出现得过多：作为猜测一次，作为更正又一次。</translation>
        </message>
        <message>
            <source>{rule}: total variation {tv}</source>
            <translation>{rule}：全变差 {tv}</translation>
        </message>
    </context>
    <context>
        <name>wizards</name>
        <message>
            <source>Choose a text file.</source>
            <translation>请选择一个文本文件。</translation>
        </message>
        <message>
            <source>There is no file at {path}.</source>
            <translation>{path} 处没有文件。</translation>
        </message>
        <message>
            <source>{path} is a folder. Choose a text file.</source>
            <translation>{path} 是文件夹。请选择一个文本文件。</translation>
        </message>
        <message>
            <source>There is no permission to read {path}.</source>
            <translation>没有读取 {path} 的权限。</translation>
        </message>
        <message>
            <source>{path} is empty.</source>
            <translation>{path} 是空的。</translation>
        </message>
        <message>
            <source>Choose a file of labelled examples.</source>
            <translation>请选择带标签的样例文件。</translation>
        </message>
        <message>
            <source>Choose a .csv, .tsv, .jsonl or .parquet file, or give a data set of the Hub as org/name.</source>
            <translation>请选择 .csv、.tsv、.jsonl 或 .parquet 文件，或以 org/name 给出 Hub 上的数据集。</translation>
        </message>
        <message>
            <source>Choose an .npz file or a folder of pictures.</source>
            <translation>请选择一个 .npz 文件或图片文件夹。</translation>
        </message>
        <message>
            <source>It doesn't exist.</source>
            <translation>它不存在。</translation>
        </message>
        <message>
            <source>Give it a name.</source>
            <translation>请给它一个名称。</translation>
        </message>
        <message>
            <source>This may not fit: it needs about {needed}, and {device} has {free} free.</source>
            <translation>可能放不下：它约需 {needed}，而 {device} 可用 {free}。</translation>
        </message>
        <message>
            <source>Reading the headers …</source>
            <translation>正在读取文件头…</translation>
        </message>
        <message>
            <source>This model can't be opened.</source>
            <translation>无法打开这个模型。</translation>
        </message>
        <message>
            <source>This model brings its own code. Allow it, or choose another model.</source>
            <translation>这个模型自带代码。请允许运行，或选择另一个模型。</translation>
        </message>
        <message>
            <source>The digits that come with Spokeshave aren't of its size. Choose the images that it learnt from.</source>
            <translation>Spokeshave 自带的数字与它的尺寸不符。请选择它所学的图像。</translation>
        </message>
        <message>
            <source>Choose a model first.</source>
            <translation>请先选择一个模型。</translation>
        </message>
        <message>
            <source>There is nothing at {path}.</source>
            <translation>{path} 处什么也没有。</translation>
        </message>
        <message>
            <source>{name} isn't a model. Choose a folder, a .gguf file or a Hub id.</source>
            <translation>{name} 不是模型。请选择文件夹、.gguf 文件或 Hub 标识。</translation>
        </message>
        <message>
            <source>It's quantized already. Choose the variant that it came from.</source>
            <translation>它已经量化过了。请选择它的来源变体。</translation>
        </message>
        <message>
            <source>It's quantized, and that comes last. Choose the variant that it came from.</source>
            <translation>它已经量化，而量化应放在最后。请选择它的来源变体。</translation>
        </message>
        <message>
            <source>It couldn't be loaded: {reason}</source>
            <translation>无法加载：{reason}</translation>
        </message>
        <message>
            <source>It doesn't work on this kind of model.</source>
            <translation>它不适用于这类模型。</translation>
        </message>
        <message>
            <source>There is no model in this workspace yet.</source>
            <translation>这个工作区里还没有模型。</translation>
        </message>
        <message>
            <source>Choose a variant.</source>
            <translation>请选择一个变体。</translation>
        </message>
        <message>
            <source>The worker is still starting. The methods appear in a few seconds.</source>
            <translation>工作进程仍在启动。方法会在几秒后出现。</translation>
        </message>
        <message>
            <source>Choose a method.</source>
            <translation>请选择一种方法。</translation>
        </message>
        <message>
            <source>Which images it learnt from isn't known. Choose them.</source>
            <translation>不知道它学的是哪些图像。请选择。</translation>
        </message>
        <message>
            <source>The examples haven't been read yet.</source>
            <translation>尚未读取样例。</translation>
        </message>
        <message>
            <source>It would be measured on the text that it's trained on, which flatters it. Choose another text to measure on.</source>
            <translation>这样会在训练所用的文本上测量，结果会偏好。请选择另一份文本来测量。</translation>
        </message>
        <message>
            <source>A model that draws is held against images, not against another model.</source>
            <translation>绘图的模型对照图像来衡量，而不是对照另一个模型。</translation>
        </message>
        <message>
            <source>It's the variant itself.</source>
            <translation>就是这个变体本身。</translation>
        </message>
        <message>
            <source>It doesn't do the same: one classifies, the other doesn't.</source>
            <translation>两者的任务不同：一个做分类，另一个不做。</translation>
        </message>
        <message>
            <source>Its tokenizer has other tokens, so the two can't be compared token by token.</source>
            <translation>它的分词器的词元不同，因此两者无法逐词元比较。</translation>
        </message>
        <message>
            <source>Choose at least one variant.</source>
            <translation>请至少选择一个变体。</translation>
        </message>
        <message>
            <source>Which images {name} learnt from isn't known: choose them.</source>
            <translation>不知道 {name} 学的是哪些图像：请选择。</translation>
        </message>
        <message>
            <source>{name} knows {n} levels of noise, so it can't draw in more steps.</source>
            <translation>{name} 只有 {n} 级噪声，因此不能用更多的步数绘制。</translation>
        </message>
        <message>
            <source>It isn't known what {name} learnt from: choose labelled examples.</source>
            <translation>不知道 {name} 是从什么学习的：请选择带标签的样例。</translation>
        </message>
        <message>
            <source>It isn't known what this model does, so its inputs can't be described.</source>
            <translation>不清楚这个模型做什么，因此无法描述它的输入。</translation>
        </message>
        <message>
            <source>A model that draws images is written as ONNX only; its folder is what diffusers loads.</source>
            <translation>绘制图像的模型只能写成 ONNX；它的文件夹本身就可由 diffusers 加载。</translation>
        </message>
        <message>
            <source>A model of the kind {kind} can't be written as GGUF here. Choose ONNX.</source>
            <translation>{kind} 类型的模型在这里不能写成 GGUF。请选择 ONNX。</translation>
        </message>
        <message>
            <source>{share} % of its weights are zero, too few to save anything. Prune it first.</source>
            <translation>其权重中有 {share} % 为零，太少，省不了空间。请先剪枝。</translation>
        </message>
        <message>
            <source>What was checked, and the figures.</source>
            <translation>检查了什么，以及各项数值。</translation>
        </message>
        <message>
            <source>Weights, settings, tokenizer and chat template in one file.</source>
            <translation>权重、设置、分词器和聊天模板都在一个文件中。</translation>
        </message>
        <message>
            <source>The whole folder in one file, its zeros as a bit each.</source>
            <translation>整个文件夹合为一个文件，每个零只占一位。</translation>
        </message>
        <message>
            <source>Configuration and tokenizer, as transformers writes them.</source>
            <translation>配置和分词器，与 transformers 所写的相同。</translation>
        </message>
        <message>
            <source>A script that runs the export with onnxruntime alone.</source>
            <translation>只用 onnxruntime 运行导出结果的脚本。</translation>
        </message>
        <message>
            <source>The graph of the network that takes noise off an image.</source>
            <translation>为图像去噪的网络的计算图。</translation>
        </message>
        <message>
            <source>The weights, beside the graph.</source>
            <translation>权重，与计算图放在一起。</translation>
        </message>
        <message>
            <source>How noise is laid out, and other settings, as diffusers has them.</source>
            <translation>噪声如何分布，以及其他设置，与 diffusers 中的相同。</translation>
        </message>
        <message>
            <source>A script that draws with onnxruntime alone.</source>
            <translation>只用 onnxruntime 绘图的脚本。</translation>
        </message>
        <message>
            <source>The graph that reads a text, and its weights.</source>
            <translation>读取文本的计算图及其权重。</translation>
        </message>
        <message>
            <source>The graph that writes the answer, with a key-value cache, and its weights.</source>
            <translation>写出回答的计算图（带键值缓存）及其权重。</translation>
        </message>
        <message>
            <source>The graph, with a key-value cache for fast generation.</source>
            <translation>计算图，带键值缓存以快速生成。</translation>
        </message>
        <message>
            <source>The graph, without a cache.</source>
            <translation>计算图，不带缓存。</translation>
        </message>
        <message>
            <source>With it, onnxruntime-genai opens the folder.</source>
            <translation>有了它，onnxruntime-genai 就能打开此文件夹。</translation>
        </message>
        <message>
            <source>Choose a folder.</source>
            <translation>请选择一个文件夹。</translation>
        </message>
        <message>
            <source>{path} is a file. Choose a folder.</source>
            <translation>{path} 是文件。请选择一个文件夹。</translation>
        </message>
        <message>
            <source>Give the whole path of the folder.</source>
            <translation>请给出文件夹的完整路径。</translation>
        </message>
        <message>
            <source>That folder belongs to the workspace's variants. Choose another.</source>
            <translation>那个文件夹属于工作区的变体。请另选一个。</translation>
        </message>
        <message>
            <source>The folder holds files that aren't an earlier export, and they stay. Choose another.</source>
            <translation>文件夹中有并非先前导出的文件，它们会保留。请另选一个。</translation>
        </message>
        <message>
            <source>The folder holds files already. Allow replacing them, or choose another.</source>
            <translation>文件夹中已有文件。请允许替换，或另选一个。</translation>
        </message>
        <message>
            <source>There is no permission to write to {path}.</source>
            <translation>没有写入 {path} 的权限。</translation>
        </message>
    </context>
</TS>
